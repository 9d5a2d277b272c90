// Package openai generates and embeds with models over the API of OpenAI, which
// many other services and programs speak too: Ollama, vLLM, LM Studio.
package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/memoryd/memoryd/internal/remote"
	"github.com/memoryd/memoryd/memory"
)

// Options of New. The zero value is the default.
type Options struct {
	// Getenv reads the environment. Defaults to os.Getenv.
	Getenv func(string) string
	// Timeout bounds one try of a call. Defaults to 60 s to generate and 30 s to
	// embed.
	Timeout time.Duration
	// Wait is the time between the first two tries, and doubles. Defaults to 500 ms.
	Wait time.Duration
}

// Client reaches one service, as one caller.
type Client struct {
	opts     Options
	official bool        // the service is OpenAI's own
	base     string      // of the URL of every call, without a slash at its end
	header   http.Header // of every call
	http     *http.Client
	caller   remote.Caller // without a model; callerOf adds it
}

// New reads from the environment which service to use:
//
//	OPENAI_BASE_URL     where it is, with its path: http://localhost:11434/v1; defaults to OpenAI
//	OPENAI_API_KEY      the key; services other than OpenAI may need none
//	OPENAI_ORG_ID       the organization and
//	OPENAI_PROJECT_ID   the project that pay, if not those of the key
//
// It calls no service, so that a program starts while its service is unavailable.
func New(opts *Options) (*Client, error) {
	c := &Client{}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Getenv == nil {
		c.opts.Getenv = os.Getenv
	}
	base := "https://api.openai.com/v1"
	if v := c.opts.Getenv("OPENAI_BASE_URL"); v != "" {
		base, c.caller.AddressVar = v, "OPENAI_BASE_URL"
	}
	var err error
	if c.caller.Address, err = remote.Address("OPENAI_BASE_URL", base); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	c.official = official(c.caller.Address)
	key := c.opts.Getenv("OPENAI_API_KEY")
	if key == "" && c.official {
		return nil, fmt.Errorf(
			"openai: there is no key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a service that needs none: %w",
			memory.ErrInvalid,
		)
	}
	c.caller.Wait, c.caller.Explain = c.opts.Wait, explain
	c.caller.Credential = "a call without a key (OPENAI_API_KEY is not set)"
	c.base, c.http = strings.TrimRight(base, "/"), remote.Client(nil)
	c.header = http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"application/json"},
		"User-Agent":   {"memoryd"},
	}
	if key != "" {
		c.caller.Credential, c.caller.Secrets = "the key in OPENAI_API_KEY", []string{key}
		c.header.Set("Authorization", "Bearer "+key)
	}
	if v := c.opts.Getenv("OPENAI_ORG_ID"); v != "" {
		c.header.Set("OpenAI-Organization", v)
	}
	if v := c.opts.Getenv("OPENAI_PROJECT_ID"); v != "" {
		c.header.Set("OpenAI-Project", v)
	}
	return c, nil
}

// official reports whether an address is OpenAI's, in any of its regions.
func official(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".api.openai.com"))
}

// callerOf returns the caller of a model. timeout applies unless Options has one.
func (c *Client) callerOf(model string, timeout time.Duration) remote.Caller {
	caller := c.caller
	caller.Name, caller.Provider = "openai:"+model, "openai"
	if caller.Timeout = c.opts.Timeout; caller.Timeout == 0 {
		caller.Timeout = timeout
	}
	return caller
}

// explain reads an error. OpenAI and most others send {"error": {…}}, some
// {"error": "…"}, and services made with FastAPI {"detail": …}.
func explain(body []byte) (d remote.Detail) {
	var answer struct {
		Error   json.RawMessage
		Message string
		Detail  any
	}
	if json.Unmarshal(body, &answer) != nil {
		return d
	}
	d.Message = answer.Message
	if answer.Detail != nil {
		d.Message = fmt.Sprint(answer.Detail)
	}
	var inner struct {
		Message string
		Type    string
		Param   any
		Code    any // a word at OpenAI, the status at vLLM
	}
	if json.Unmarshal(answer.Error, &inner) != nil {
		var text string
		if json.Unmarshal(answer.Error, &text) == nil {
			d.Message = text
		}
		return d
	}
	d.Message = inner.Message
	d.Param, _ = inner.Param.(string)
	if d.Code, _ = inner.Code.(string); d.Code == "" {
		d.Code = inner.Type
	}
	d.Lasting = d.Code == "insufficient_quota"        // no money is left
	d.Refused = strings.HasPrefix(d.Code, "content_") // content_filter at Azure, content_policy_violation
	return d
}
