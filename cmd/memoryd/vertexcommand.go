package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/vertex/vertexauth"
)

// vertexCommandConfig is what the flags of memoryd vertex say beside those of serve.
type vertexCommandConfig struct {
	location string
	renew    bool
	real     bool
	key      string // of a further account; "" makes one
	public   string // its public key
}

// vertexLanguages are those that memoryd vertex env knows.
const vertexLanguages = "python, go, js or java"

// vertexCommands are the commands of memoryd vertex.
func vertexCommands() []*subcommand {
	dir := []string{"data", "vertex-dir"}
	return []*subcommand{
		{
			name: "vertex init", summary: "Make the certificates and the service account of -vertex.",
			details: `It overwrites nothing, but for the certificate of the port with -renew. The names of the
certificate are those that clients compute from -location, and those of -host. With -app the service
account stands for a new key of that app; without, for none, which a memoryd without keys takes.`,
			example: "memoryd vertex init -app 1 -can read,write -vertex-tokens 127.0.0.1:8081",
			uses:    append(storeFlagNames(), "vertex-dir", "vertex-tokens", "host"), ownVariables: true,
			own: func(fs *flag.FlagSet, cfg *config) {
				remoteFlags(fs, cfg)
				fs.StringVar(&cfg.vertexCommand.location, "location", vertexauth.DefaultLocation,
					"`LOCATION` that clients are configured with; never one of Google's")
				fs.BoolVar(&cfg.vertexCommand.renew, "renew", false, "make another certificate of the same authority")
				fs.StringVar(&cfg.keys.app, "app", "",
					"`APP` of the key; * stands for all apps; by default there is no key")
				fs.StringVar(&cfg.keys.user, "user", "", "`USER` that the key is for; by default all users of the app")
				fs.StringVar(&cfg.keys.can, "can", "read,write",
					"`VERBS` of the key, with commas between: read, write, admin")
			},
			run: vertexInit,
		},
		vertexKeysAdd(),
		{
			name: "vertex env", arguments: "LANGUAGE",
			summary: "Print the environment of a client, for eval.",
			details: "LANGUAGE is " + vertexLanguages + ".",
			example: "memoryd vertex env python",
			uses:    append(dir, "vertex-tokens"), ownVariables: true,
			own: func(fs *flag.FlagSet, cfg *config) {
				fs.BoolVar(&cfg.vertexCommand.real, "real-google-credentials", false,
					"leave the credentials as they are: for a memoryd with -vertex-any-token")
			},
			run: func(_ context.Context, cfg *config, args []string, s streams) error {
				return vertexEnv(cfg, args[0], s.out)
			},
		},
		{
			name: "vertex check", summary: "Call memoryd as a client does, and say what is wrong.",
			details: `It resolves the name that clients compute, or asks the proxy in HTTPS_PROXY, checks the
certificate against ca.pem, and lists sessions with a token of the service account.`,
			example: "memoryd vertex check",
			uses:    append(dir, "vertex-tokens"), ownVariables: true,
			own: func(fs *flag.FlagSet, cfg *config) {
				fs.StringVar(&cfg.vertexCommand.location, "location", vertexauth.DefaultLocation,
					"`LOCATION` that clients are configured with")
			},
			run: vertexCheck,
		},
	}
}

// vertexKeysAdd makes further accounts.
func vertexKeysAdd() *subcommand {
	return &subcommand{
		name: "vertex keys add", arguments: "NAME",
		summary: "Add a service account of the name, for a key that is there or a new one.",
		details: `A key may have any number of accounts: each client has its own, and to remove
accounts/KEY-NAME.pem in -vertex-dir ends one, within a second. With -public the client has made
the keys, and its private key does not leave it. The command prints the files that it has written.`,
		example: "memoryd vertex keys add nightly -app 1 -can read",
		uses:    append(storeFlagNames(), "vertex-dir", "vertex-tokens"), ownVariables: true,
		own: func(fs *flag.FlagSet, cfg *config) {
			remoteFlags(fs, cfg)
			fs.StringVar(&cfg.vertexCommand.key, "key", "", "`ID` of the key; by default one is made, of -app")
			fs.StringVar(&cfg.vertexCommand.public, "public", "",
				"`FILE` with the client's public key, in PEM; by default a pair is made")
			fs.StringVar(&cfg.keys.app, "app", "", "`APP` of the new key; * stands for all apps")
			fs.StringVar(&cfg.keys.user, "user", "", "`USER` that the new key is for; by default all users of the app")
			fs.StringVar(&cfg.keys.can, "can", "read,write",
				"`VERBS` of the new key, with commas between: read, write, admin")
		},
		run: addVertexAccount,
	}
}

// addVertexAccount checks all that can be checked before it makes a key: a command that fails leaves
// none behind, unless a file cannot be written.
func addVertexAccount(ctx context.Context, cfg *config, args []string, s streams) error {
	account := vertexauth.Account{Dir: cfg.vertex.dir, Tokens: cfg.vertex.tokensOf(), Key: cfg.vertexCommand.key,
		Name: args[0]}
	switch {
	case (account.Key == "") == (cfg.keys.app == ""):
		return usageError{errors.New("vertex keys add: want -key of a key that is there, or -app for a new one")}
	case vertexauth.Missing(account.Dir):
		return fmt.Errorf("%s has no certificate: memoryd vertex init makes it", account.Dir)
	}
	if file := cfg.vertexCommand.public; file != "" {
		var err error
		if account.Public, err = os.ReadFile(file); err != nil {
			return fmt.Errorf("-public: %w", err)
		}
	}
	if err := account.Check(); err != nil {
		return err
	}
	if account.Key != "" {
		cfg.keys.app = access.AllApps
	}
	return cfg.withNewKeys(ctx, func(r keyring) error {
		if err := keyOfAccount(ctx, cfg, r, s, &account); err != nil {
			return err
		}
		wrote, err := account.Write()
		for _, file := range wrote {
			fmt.Fprintln(s.out, file)
		}
		if err == nil && account.Public != nil {
			fmt.Fprintf(s.err, "the private_key_id of its credentials is %s\n", account.ID())
		}
		return err
	})
}

// keyOfAccount finds the key of an account, or makes it.
func keyOfAccount(ctx context.Context, cfg *config, r keyring, s streams, account *vertexauth.Account) error {
	if account.Key != "" {
		found := false
		if err := r.list(ctx, func(k client.Key) error {
			found = found || k.ID == account.Key && k.RevokeTime.IsZero()
			return nil
		}); err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("-key %s: there is no such key, or it is revoked: memoryd keys list shows all",
				account.Key)
		}
		return nil
	}
	id, _, err := r.create(ctx, client.NewKey{Name: "vertex " + account.Name, User: cfg.keys.user,
		Can: strings.Split(cfg.keys.can, ",")})
	if err == nil {
		fmt.Fprintf(s.err, "made key %s\n", id)
	}
	account.Key = id
	return err
}

// tokensOf is the address of the tokens.
func (v *vertexConfig) tokensOf() string {
	if v.tokens == "" {
		return vertexauth.DefaultTokens
	}
	return v.tokens
}

// vertexInit writes the files, and makes the key of the service account where -app asks for one. It
// looks first whether there is an account already, so that no key is made for nothing.
func vertexInit(ctx context.Context, cfg *config, _ []string, s streams) error {
	make := vertexauth.Init{Dir: cfg.vertex.dir, Location: cfg.vertexCommand.location, Hosts: cfg.network.hosts,
		Tokens: cfg.vertex.tokensOf(), Renew: cfg.vertexCommand.renew}
	write := func() error {
		wrote, err := make.Write()
		for _, file := range wrote {
			fmt.Fprintln(s.out, file)
		}
		return err
	}
	if cfg.keys.app == "" {
		return write()
	}
	if _, err := os.Stat(filepath.Join(make.Dir, vertexauth.Credentials)); err == nil {
		return fmt.Errorf("%s is there already: name another -vertex-dir for another key",
			filepath.Join(make.Dir, vertexauth.Credentials))
	}
	return cfg.withNewKeys(ctx, func(r keyring) error {
		id, _, err := r.create(ctx, client.NewKey{Name: "vertex", User: cfg.keys.user,
			Can: strings.Split(cfg.keys.can, ",")})
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "made key %s\n", id)
		make.Key = id
		return write()
	})
}

// vertexEnv prints the variables of one language.
func vertexEnv(cfg *config, language string, w io.Writer) error {
	dir, err := filepath.Abs(cfg.vertex.dir)
	if err != nil {
		return err
	}
	file := func(name string) string { return shellQuote(filepath.Join(dir, name)) }
	var lines []string
	account := func(name string) {
		if !cfg.vertexCommand.real {
			lines = append(lines, "export GOOGLE_APPLICATION_CREDENTIALS="+file(name))
		}
	}
	switch language {
	case "python":
		// Some systems have python3 alone, and every environment has it. A bundle without certifi's authorities
		// would have all other hosts be refused: the variable then stays as it is.
		lines = append(lines, fmt.Sprintf(`cat "$(python3 -m certifi)" %s > %s && export SSL_CERT_FILE=%[2]s`,
			file(vertexauth.CAFile), file("bundle.pem")))
		account(vertexauth.Credentials)
	case "go":
		lines = append(lines, "export SSL_CERT_FILE="+file(vertexauth.CAFile))
		account(vertexauth.Go)
		lines = append(lines, "export GOOGLE_CLOUD_UNIVERSE_DOMAIN="+vertexauth.Universe)
	case "js":
		lines = append(lines, "export NODE_EXTRA_CA_CERTS="+file(vertexauth.CAFile))
		if !cfg.vertexCommand.real {
			lines = append(lines, "export GCE_METADATA_HOST="+cfg.vertex.tokensOf())
		}
	case "java":
		trust := filepath.Join(dir, vertexauth.TrustFile)
		if _, err := os.Stat(trust); err != nil {
			return fmt.Errorf("there is no trust store for Java: memoryd vertex init makes it (%w)", err)
		}
		lines = append(lines, "export JAVA_TOOL_OPTIONS="+shellQuote("-Djavax.net.ssl.trustStore="+trust+
			" -Djavax.net.ssl.trustStorePassword="+vertexauth.TrustPassword))
		account(vertexauth.Credentials)
	default:
		return usageError{fmt.Errorf("vertex env %s: want %s", language, vertexLanguages)}
	}
	_, err = fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// shellQuote writes a text as one word of a shell.
func shellQuote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

// checkVertexTime bounds a check.
const checkVertexTime = 10 * time.Second

// vertexCheck makes the call of a client.
func vertexCheck(ctx context.Context, cfg *config, _ []string, s streams) error {
	ctx, cancel := context.WithTimeout(ctx, checkVertexTime)
	defer cancel()
	text, err := os.ReadFile(filepath.Join(cfg.vertex.dir, vertexauth.CAFile))
	if err != nil {
		return fmt.Errorf("there is no certificate authority: memoryd vertex init makes it (%w)", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return fmt.Errorf("%s has no certificate", filepath.Join(cfg.vertex.dir, vertexauth.CAFile))
	}
	token, err := vertexauth.Sign(cfg.vertex.dir, cfg.vertexCommand.location)
	if err != nil {
		return err
	}
	name := cfg.vertexCommand.location + "-aiplatform.googleapis.com"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"https://"+name+"/v1beta1/reasoningEngines/check/sessions?pageSize=1", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return explainVertex(name, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return err
	}
	switch res.StatusCode {
	// 403: the key is of another app than this one. 404: -vertex-engines declared, and this one is not.
	case http.StatusOK, http.StatusForbidden, http.StatusNotFound:
		_, err = fmt.Fprintf(s.out, "%s is this memoryd, its certificate is good, and it knows the service account\n",
			name)
		return err
	case http.StatusUnauthorized:
		return fmt.Errorf("%s does not take the service account of %s: its key is revoked, or memoryd has another"+
			" -vertex-dir", name, cfg.vertex.dir)
	}
	return fmt.Errorf("%s answers %s: %.300s", name, res.Status, answer)
}

// explainVertex says what to do about an error of the connection.
func explainVertex(name string, err error) error {
	dns, unknown := (*net.DNSError)(nil), x509.UnknownAuthorityError{}
	wrong := x509.HostnameError{}
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("%s has no address: put it into /etc/hosts or an alias of the container network, or name"+
			" a proxy in HTTPS_PROXY (%w)", name, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is not of this authority: that is another memoryd, or Google (%w)",
			name, err)
	case errors.As(err, &wrong):
		return fmt.Errorf("the certificate is not for %s: memoryd vertex init -renew -location makes one (%w)",
			name, err)
	}
	return fmt.Errorf("%s cannot be reached: memoryd serves it with -vertex, at port 443 or behind a proxy (%w)",
		name, err)
}
