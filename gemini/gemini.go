// Package gemini generates and embeds with Google's models, over the Gemini API or
// Vertex AI.
package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/auth"
	"google.golang.org/genai"

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

// Client reaches Google's models, as one caller.
type Client struct {
	opts   Options
	config genai.ClientConfig
	caller remote.Caller // without a model; callerOf adds it

	mu  sync.Mutex
	sdk *genai.Client
}

// New reads from the environment which service to use, as Google's own library does:
//
//	GEMINI_API_KEY or GOOGLE_API_KEY   a key of the Gemini API; of both, the latter
//	GOOGLE_GEMINI_BASE_URL             where the API is, if not at Google
//
// or, for Vertex AI:
//
//	GOOGLE_GENAI_USE_VERTEXAI=true     or GOOGLE_GENAI_USE_ENTERPRISE=true
//	GOOGLE_CLOUD_PROJECT               called with the credentials of the machine,
//	                                   or of the file GOOGLE_APPLICATION_CREDENTIALS
//	GOOGLE_CLOUD_LOCATION              or GOOGLE_CLOUD_REGION; defaults to global
//	GOOGLE_API_KEY                     in place of a project
//	GOOGLE_VERTEX_BASE_URL             where Vertex AI is, if not at Google
//
// It calls no service, so that a program starts while its service is unavailable.
func New(opts *Options) (*Client, error) {
	c := &Client{caller: remote.Caller{Name: "gemini"}}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Getenv == nil {
		c.opts.Getenv = os.Getenv
	}
	keyVar, key := c.first("GOOGLE_API_KEY", "GEMINI_API_KEY")
	c.config.HTTPClient = remote.Client(nil)
	var err error
	if c.vertex() {
		err = c.onVertex(keyVar, key)
	} else {
		err = c.onGeminiAPI(keyVar, key)
	}
	if err != nil {
		return nil, fmt.Errorf("gemini: %w", err)
	}
	c.caller.Wait = c.opts.Wait
	c.caller.Explain = explain
	if c.config.APIKey != "" {
		c.caller.Credential = "the key in " + keyVar
		c.caller.Secrets = []string{key}
		if _, err := c.connect(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// first returns the first of some variables that is set, and its value.
func (c *Client) first(names ...string) (name, value string) {
	for _, name := range names {
		if v := c.opts.Getenv(name); v != "" {
			return name, v
		}
	}
	return "", ""
}

func (c *Client) vertex() bool {
	_, v := c.first("GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI")
	return v == "1" || strings.EqualFold(v, "true")
}

func (c *Client) onGeminiAPI(keyVar, key string) error {
	if key == "" {
		return fmt.Errorf(
			"there is no key: set GEMINI_API_KEY or GOOGLE_API_KEY, "+
				"or, for Vertex AI, GOOGLE_GENAI_USE_VERTEXAI=true and GOOGLE_CLOUD_PROJECT: %w",
			memory.ErrInvalid,
		)
	}
	c.config.Backend, c.config.APIKey = genai.BackendGeminiAPI, key
	return c.at("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com/")
}

func (c *Client) onVertex(keyVar, key string) error {
	c.config.Backend = genai.BackendVertexAI
	_, project := c.first("GOOGLE_CLOUD_PROJECT")
	_, location := c.first("GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION")
	if location == "" {
		location = "global"
	}
	host := "aiplatform.googleapis.com"
	switch {
	case project != "":
		c.config.Project, c.config.Location = project, location
		c.config.HTTPClient = nil // for the library to make one that has credentials
		c.caller.Credential = "the Google Cloud credentials"
		switch location {
		case "global":
		case "us", "eu": // each of several regions
			host = "aiplatform." + location + ".rep.googleapis.com"
		default:
			host = location + "-" + host
		}
	case key != "":
		c.config.APIKey = key
	default:
		return fmt.Errorf(
			"Vertex AI needs to know the project: "+
				"set GOOGLE_CLOUD_PROJECT, or GOOGLE_API_KEY for a key without one: %w",
			memory.ErrInvalid,
		)
	}
	return c.at("GOOGLE_VERTEX_BASE_URL", "https://"+host+"/")
}

// at sets the URL of the service to the value of the variable name, or to fallback.
func (c *Client) at(name, fallback string) (err error) {
	url := fallback
	if v := c.opts.Getenv(name); v != "" {
		url, c.caller.AddressVar = v, name
	}
	c.config.HTTPOptions.BaseURL = url
	c.caller.Address, err = remote.Address(name, url)
	return err
}

// connect returns the library's client. A client with the credentials of the machine
// is made when it is first needed, because looking for them may call a server of the
// cloud. If they are not found, the next call looks again.
func (c *Client) connect() (*genai.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sdk != nil {
		return c.sdk, nil
	}
	config := c.config // a copy: the library writes to it
	sdk, err := genai.NewClient(context.Background(), &config)
	if err != nil {
		return nil, c.caller.Invalid("%v", err)
	}
	if c.config.HTTPClient == nil {
		own := sdk.ClientConfig().HTTPClient
		*own = *remote.Client(own.Transport)
	}
	c.sdk = sdk
	return sdk, nil
}

// callerOf returns the caller of a model. timeout applies unless Options has one.
func (c *Client) callerOf(model string, timeout time.Duration) remote.Caller {
	caller := c.caller
	caller.Name, caller.Provider = "gemini:"+model, "gcp.gemini"
	if c.vertex() {
		caller.Provider = "gcp.vertex_ai"
	}
	if caller.Timeout = c.opts.Timeout; caller.Timeout == 0 {
		caller.Timeout = timeout
	}
	return caller
}

// tokenError turns a failure to get a token into an error that says so.
func tokenError(caller *remote.Caller, err error) error {
	if e := (*auth.Error)(nil); errors.As(err, &e) && !e.Temporary() {
		return caller.Invalid("%s are refused: %v", caller.Credential, e)
	}
	return err
}

// explain reads an error of a Google API (google.rpc.Status as JSON).
func explain(body []byte) (d remote.Detail) {
	var answer struct {
		Error struct {
			Message string
			Status  string
			Details []struct {
				Type       string `json:"@type"`
				Reason     string // of google.rpc.ErrorInfo
				RetryDelay string // of google.rpc.RetryInfo: "12s"
			}
		}
	}
	if json.Unmarshal(body, &answer) != nil {
		return d
	}
	d.Message, d.Code = answer.Error.Message, answer.Error.Status
	for _, detail := range answer.Error.Details {
		switch detail.Type {
		case "type.googleapis.com/google.rpc.ErrorInfo":
			d.BadKey = d.BadKey || detail.Reason == "API_KEY_INVALID" // whose status is 400
		case "type.googleapis.com/google.rpc.RetryInfo":
			if after, err := time.ParseDuration(detail.RetryDelay); err == nil {
				d.After = remote.Seconds(after.Seconds())
			}
		}
	}
	return d
}
