package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"github.com/memoryd/memoryd/access"
	"github.com/memoryd/memoryd/client"
	"github.com/memoryd/memoryd/internal/assembly"
	"github.com/memoryd/memoryd/internal/sqlitedb"
)

// keysConfig is what the flags of memoryd keys say beside those of serve.
type keysConfig struct {
	app, user, can, expires, name string
	grace                         time.Duration
	json                          bool
}

// keysPlaces says where memoryd keys works: part of the help of its commands.
const keysPlaces = `The keys are in the session store. Beside a running memoryd whose data is in a file,
the command goes through the Unix socket next to that file: only who may write there
can use it. With -server it asks the memoryd at that URL, with an admin key.`

// keysCommand is one of the commands of memoryd keys.
func keysCommand(c *subcommand, own func(*flag.FlagSet, *config)) *subcommand {
	c.details = strings.TrimSpace(c.details + "\n\n" + keysPlaces)
	c.uses, c.ownVariables = storeFlagNames(), true
	c.own = func(fs *flag.FlagSet, cfg *config) {
		remoteFlags(fs, cfg)
		own(fs, cfg)
	}
	return c
}

// keysCommands are the commands of memoryd keys.
func keysCommands() []*subcommand {
	appFlag := func(fs *flag.FlagSet, cfg *config) {
		fs.StringVar(&cfg.keys.app, "app", "", "`APP` of the keys; * stands for all apps")
	}
	return []*subcommand{
		keysCommand(&subcommand{
			name: "keys create", summary: "Make a key, and print it alone: nothing shows it again.",
			details: `The first key closes memoryd for good: from then on every caller must show a key, also
when all keys are revoked.`,
			example: "memoryd keys create -app shop -can read,write -expires 90d -name 'agent of the shop'",
			run: func(ctx context.Context, cfg *config, _ []string, s streams) error {
				return cfg.createKey(ctx, s)
			}}, func(fs *flag.FlagSet, cfg *config) {
			appFlag(fs, cfg)
			fs.StringVar(&cfg.keys.user, "user", "", "`USER` that the key is for; by default all users of the app")
			fs.StringVar(&cfg.keys.can, "can", "read,write",
				"`VERBS` of the key, with commas between: read, write, admin")
			fs.StringVar(&cfg.keys.expires, "expires", "",
				"`DURATION` after which the key is not valid, such as 90d or 12h; by default never")
			fs.StringVar(&cfg.keys.name, "name", "", "`NAME` by which people know the key")
		}),
		keysCommand(&subcommand{
			name: "keys list", summary: "List keys, newest first, without their secrets.",
			example: "memoryd keys list -app shop",
			run: func(ctx context.Context, cfg *config, _ []string, s streams) error {
				return cfg.listKeys(ctx, s)
			}}, func(fs *flag.FlagSet, cfg *config) {
			fs.StringVar(&cfg.keys.app, "app", access.AllApps, "`APP` whose keys to list; * lists every key")
			fs.BoolVar(&cfg.keys.json, "json", false, "print one JSON object a line")
		}),
		keysCommand(&subcommand{
			name: "keys revoke", arguments: "ID", summary: "End a key: it is refused within a second.",
			example: "memoryd keys revoke 1JW3rTgbPNVE5QxF",
			run: func(ctx context.Context, cfg *config, args []string, s streams) error {
				return cfg.withKeys(ctx, func(r keyring) error { return r.revoke(ctx, args[0]) })
			}}, func(fs *flag.FlagSet, cfg *config) {
			fs.StringVar(&cfg.keys.app, "app", access.AllApps, "`APP` of the key, for an admin key of that app")
		}),
		keysCommand(&subcommand{
			name: "keys rotate", arguments: "ID", summary: "Give a key another secret, and print the key alone.",
			example: "memoryd keys rotate -grace 1h 1JW3rTgbPNVE5QxF",
			run: func(ctx context.Context, cfg *config, args []string, s streams) error {
				return cfg.withKeys(ctx, func(r keyring) error {
					shown, err := r.rotate(ctx, args[0], cfg.keys.grace)
					if err == nil {
						_, err = fmt.Fprintln(s.out, shown)
					}
					return err
				})
			}}, func(fs *flag.FlagSet, cfg *config) {
			fs.StringVar(&cfg.keys.app, "app", access.AllApps, "`APP` of the key, for an admin key of that app")
			fs.DurationVar(&cfg.keys.grace, "grace", 0, "`DURATION` that the secret before stays valid, up to 168h")
		}),
		{
			name: "keys generate", summary: "Print a new key that no store knows, for -bootstrap-key-file.",
			example: "memoryd keys generate > bootstrap.key",
			run: func(_ context.Context, _ *config, _ []string, s streams) error {
				_, err := fmt.Fprintln(s.out, access.Show(access.NewID(), access.NewSecret()))
				return err
			},
		},
	}
}

// keyring manages keys, wherever they are.
type keyring interface {
	create(ctx context.Context, key client.NewKey) (id, shown string, err error)
	list(ctx context.Context, each func(client.Key) error) error
	revoke(ctx context.Context, id string) error
	rotate(ctx context.Context, id string, grace time.Duration) (shown string, err error)
	place() string // for people: a URL without its password, or a file
}

func (c *config) createKey(ctx context.Context, s streams) error {
	if c.keys.app == "" {
		return usageError{errors.New("keys create: -app is missing: name an app, or '*' for all apps")}
	}
	key := client.NewKey{Name: c.keys.name, User: c.keys.user, Can: strings.Split(c.keys.can, ",")}
	if c.keys.expires != "" {
		life, err := parseDays(c.keys.expires)
		if err != nil {
			return usageError{fmt.Errorf("keys create: -expires: %w", err)}
		}
		key.ExpireTime = time.Now().Add(life)
	}
	return c.withNewKeys(ctx, func(r keyring) error {
		id, shown, err := r.create(ctx, key)
		if err != nil {
			return err
		}
		// A key in another store than the one that serves opens nothing: the default one is easily meant by mistake.
		fmt.Fprintf(s.err, "made key %s in %s: keep it now, nothing shows it again\n", id, r.place())
		_, err = fmt.Fprintln(s.out, shown)
		return err
	})
}

// parseDays reads a duration of Go, or a number of days such as 90d.
func parseDays(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > 36500 {
			return 0, fmt.Errorf("%q: want 1d to 36500d", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q: want a duration such as 90d or 12h", text)
	}
	return d, nil
}

func (c *config) listKeys(ctx context.Context, s streams) error {
	return c.withKeys(ctx, func(r keyring) error {
		if c.keys.json {
			enc := json.NewEncoder(s.out)
			return r.list(ctx, func(k client.Key) error { return enc.Encode(k) })
		}
		// The default store may not be the one that serves: an empty list would not tell.
		fmt.Fprintf(s.err, "keys in %s\n", r.place())
		out := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(out, "ID\tAPP\tUSER\tCAN\tSTATE\tLAST USED\tNAME")
		if err := r.list(ctx, func(k client.Key) error {
			_, err := fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.App, orDash(k.User),
				strings.Join(k.Can, ","), keyState(k), day(k.LastUsedTime), k.Name)
			return err
		}); err != nil {
			return err
		}
		return out.Flush()
	})
}

// keyState says in words whether a key is valid.
func keyState(k client.Key) string {
	switch {
	case !k.RevokeTime.IsZero():
		return "revoked " + day(k.RevokeTime)
	case k.ExpireTime.IsZero():
		return "valid"
	case time.Now().Before(k.ExpireTime):
		return "valid until " + day(k.ExpireTime)
	}
	return "expired " + day(k.ExpireTime)
}

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// withKeys calls f with the keys that the flags name. A file that is not there has none, and is not made.
func (c *config) withKeys(ctx context.Context, f func(keyring) error) error {
	if c.server == "" && c.sessions != sqlitedb.Memory && inFile(c.sessions) {
		if _, err := os.Stat(c.sessions); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("no keys: there is no file %s: name the store of the memoryd that you mean with -data"+
				" or -sessions, or ask one that runs with -server", whole(c.sessions))
		}
	}
	return c.withNewKeys(ctx, f)
}

// withNewKeys is withKeys for a key that is made: so is a file that is not there.
func (c *config) withNewKeys(ctx context.Context, f func(keyring) error) (err error) {
	if c.server != "" {
		key, err := c.shownKey()
		if err != nil {
			return err
		}
		transport, err := c.network.remote()
		if err != nil {
			return err
		}
		remote, err := client.New(c.server, &client.Options{Key: key, Transport: transport, Retries: -1})
		if err != nil {
			return usageError{fmt.Errorf("-server: %w", err)}
		}
		server, err := url.Parse(c.server)
		if err != nil {
			return usageError{fmt.Errorf("-server: %w", err)}
		}
		return f(remoteKeys{remote.Keys(c.keys.app), server.Redacted()})
	}
	if c.sessions == sqlitedb.Memory {
		return usageError{errors.New("keys: -data=:memory: is the memory of another process:" +
			" ask that one with -server and an admin key")}
	}
	st := newStores()
	err = openSessions(ctx, c, st)
	if errors.Is(err, sqlitedb.ErrInUse) {
		beside, err := socketClient(c.socket())
		if err != nil {
			return err
		}
		return f(remoteKeys{beside.Keys(c.keys.app), whole(c.sessions)})
	}
	if err != nil {
		return errors.Join(err, st.Discard())
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return f(storedKeys{st, c.keys.app, whole(c.sessions)})
}

// remoteKeys are those of a memoryd that runs.
type remoteKeys struct {
	keys *client.Keys
	at   string
}

func (r remoteKeys) place() string { return r.at }

func (r remoteKeys) create(ctx context.Context, key client.NewKey) (id, shown string, err error) {
	made, shown, err := r.keys.Create(ctx, key)
	return made.ID, shown, err
}

func (r remoteKeys) list(ctx context.Context, each func(client.Key) error) error {
	for token := ""; ; {
		page, next, err := r.keys.List(ctx, 1000, token)
		if err != nil {
			return err
		}
		for _, k := range page {
			if err := each(k); err != nil {
				return err
			}
		}
		if token = next; token == "" {
			return nil
		}
	}
}

func (r remoteKeys) revoke(ctx context.Context, id string) error { return r.keys.Revoke(ctx, id) }

func (r remoteKeys) rotate(ctx context.Context, id string, grace time.Duration) (string, error) {
	_, shown, err := r.keys.Rotate(ctx, id, grace)
	return shown, err
}

// storedKeys are those in a store that this process has opened.
type storedKeys struct {
	stores  *assembly.Stores
	app, at string
}

func (r storedKeys) place() string { return r.at }

func (r storedKeys) create(ctx context.Context, key client.NewKey) (id, shown string, err error) {
	can, err := access.ParseVerbs(key.Can)
	if err != nil {
		return "", "", fmt.Errorf("-can: %w", err)
	}
	made, shown := access.NewKey(access.Key{Name: key.Name, App: r.app, User: key.User, Can: can,
		ExpireTime: key.ExpireTime}, time.Now())
	return made.ID, shown, r.audited(ctx, "keys create", made.ID, r.app, func() error {
		return r.stores.Sessions.CreateKey(ctx, made)
	})
}

func (r storedKeys) list(ctx context.Context, each func(client.Key) error) error {
	for token := ""; ; {
		page, err := r.stores.Sessions.ListKeys(ctx, r.app, access.ListKeys{PageSize: 1000, PageToken: token})
		if err != nil {
			return err
		}
		for _, k := range page.Keys {
			if err := each(client.Key{ID: k.ID, Name: k.Name, App: k.App, User: k.User, Can: k.Can.Names(),
				CreateTime: k.CreateTime, ExpireTime: k.ExpireTime, RevokeTime: k.RevokeTime,
				LastUsedTime: k.LastUsedTime}); err != nil {
				return err
			}
		}
		if token = page.NextPageToken; token == "" {
			return nil
		}
	}
}

func (r storedKeys) revoke(ctx context.Context, id string) error {
	return r.auditedOf(ctx, "keys revoke", id, func() error {
		return r.stores.Sessions.RevokeKey(ctx, id, time.Now())
	})
}

// audited tells the audit log of a change, before and after it.
func (r storedKeys) audited(ctx context.Context, action, key, app string, change func() error) error {
	e := access.Entry{ID: uuid.NewString(), Time: time.Now(), Outcome: access.Begun, Actor: "command", Action: action,
		App: app, Key: key}
	if err := r.stores.Sessions.AppendAudit(ctx, []access.Entry{e}); err != nil {
		return err
	}
	err := change()
	if e.Time, e.Outcome = time.Now(), access.Done; err != nil {
		e.Outcome = access.Failed
	}
	return errors.Join(err, r.stores.Sessions.AppendAudit(ctx, []access.Entry{e}))
}

// auditedOf is audited for a key that is there.
func (r storedKeys) auditedOf(ctx context.Context, action, id string, change func() error) error {
	k, err := r.stores.Sessions.Key(ctx, id)
	if err != nil {
		return err
	}
	return r.audited(ctx, action, id, k.App, change)
}

func (r storedKeys) rotate(ctx context.Context, id string, grace time.Duration) (shown string, err error) {
	err = r.auditedOf(ctx, "keys rotate", id, func() error {
		shown, err = access.Rotate(ctx, r.stores.Sessions, id, time.Now(), grace)
		return err
	})
	return shown, err
}

// keyVariable is the environment variable of a key itself.
const keyVariable = prefix + "KEY"

// remoteFlags defines the flags of commands that may ask a memoryd elsewhere.
func remoteFlags(fs *flag.FlagSet, cfg *config) {
	fs.StringVar(&cfg.server, "server", "", "`URL` of a memoryd that runs elsewhere, such as http://127.0.0.1:8080")
	keyFlags(fs, cfg)
	caFlag(fs, &cfg.network)
}

// keyFlags defines the flags of commands that show a key to a memoryd.
func keyFlags(fs *flag.FlagSet, cfg *config) {
	fs.StringVar(&cfg.keyFile, "key-file", "",
		"`FILE` with the key to show to a memoryd that wants one; by default the key is in "+keyVariable)
}

// maxKeyFile bounds the file of a key or a token, in bytes.
const maxKeyFile = 16 << 10

// shownKey is the key that this command shows, "" if there is none.
func (c *config) shownKey() (string, error) {
	if c.keyFile == "" {
		return strings.TrimSpace(os.Getenv(keyVariable)), nil
	}
	key, err := readKeyFile(c.keyFile)
	if err != nil {
		return "", fmt.Errorf("-key-file: %w", err)
	}
	return key, nil
}

// readKeyFile reads the one line of a file.
func readKeyFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(raw))
	if key == "" || len(raw) > maxKeyFile || slices.Contains([]byte(key), '\n') {
		return "", fmt.Errorf("%s: want a file with one line and nothing else", path)
	}
	return key, nil
}
