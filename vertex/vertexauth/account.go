package vertexauth

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// rsaBits is the size of the keys of service accounts: Google's libraries take RSA alone.
const rsaBits = 2048

// serviceAccount is the file that Google's libraries read.
type serviceAccount struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	PrivateKeyID string `json:"private_key_id"`
	PrivateKey   string `json:"private_key"`
	ClientEmail  string `json:"client_email"`
	ClientID     string `json:"client_id"`
	TokenURI     string `json:"token_uri"`
	Universe     string `json:"universe_domain,omitempty"`
}

// Account is a service account of a key of memoryd.
type Account struct {
	Dir string
	// Tokens is the address of the endpoints of tokens, HOST:PORT. Defaults to DefaultTokens.
	Tokens string
	Key    string // the id of the key that the account stands for
	// Name tells a further account of the key from the first one, which has none. It has 1 to 32
	// small letters and digits.
	Name string
	// Public is a public key in PEM: its owner keeps the private one, and no credentials are
	// written. Nil makes a pair.
	Public []byte
}

// accountName is a name of a further account. "go" would be the file of the first one.
var accountName = regexp.MustCompile(`^[a-z0-9]{1,32}$`)

// ID is the private_key_id of the account's credentials.
func (a Account) ID() string {
	if a.Name == "" {
		return a.Key
	}
	return a.Key + "-" + a.Name
}

// files are the names of the account's credentials, and of those for Go.
func (a Account) files() (general, forGo string) {
	if a.Name == "" {
		return Credentials, Go
	}
	return "credentials-" + a.Name + ".json", "credentials-" + a.Name + "-go.json"
}

// Check reports why an account cannot be written, whatever its key is.
func (a Account) Check() error {
	if a.Name != "" && (!accountName.MatchString(a.Name) || a.Name == "go") {
		return fmt.Errorf("account %q: want 1 to 32 small letters and digits, and not go", a.Name)
	}
	if a.Public != nil {
		_, err := checkPublic(a.Public)
		return err
	}
	general, _ := a.files()
	if file := filepath.Join(a.Dir, general); exists(file) {
		return fmt.Errorf("%s: %w", file, os.ErrExist)
	}
	return nil
}

// Write writes the public key where memoryd finds it, and the credentials of the account. It
// overwrites no account, and returns the paths of what it wrote.
func (a Account) Write() (wrote []string, err error) {
	if a.Tokens == "" {
		a.Tokens = DefaultTokens
	}
	if err := a.Check(); err != nil {
		return nil, err
	}
	general, forGo := a.files()
	public := filepath.Join(a.Dir, accountsPath, a.ID()+".pem")
	if err := os.MkdirAll(filepath.Dir(public), 0o700); err != nil {
		return nil, err
	}
	if a.Public != nil {
		raw, err := checkPublic(a.Public)
		if err != nil {
			return nil, err
		}
		if exists(public) {
			return nil, fmt.Errorf("%s: %w", public, os.ErrExist)
		}
		return []string{public}, write(public, encodePEM("PUBLIC KEY", raw), 0o644, false)
	}
	key, err := rsa.GenerateKey(rand.Reader, rsaBits)
	if err != nil {
		return nil, err
	}
	raw, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	// The public key comes first: without it memoryd would not know the account.
	if err := write(public, encodePEM("PUBLIC KEY", raw), 0o644, true); err != nil {
		return nil, err
	}
	return a.writeCredentials(key, general, forGo)
}

// writeCredentials writes the files for clients.
func (a Account) writeCredentials(key *rsa.PrivateKey, general, forGo string) (wrote []string, err error) {
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	of := serviceAccount{Type: "service_account", ProjectID: "memoryd", PrivateKeyID: a.ID(),
		PrivateKey: string(encodePEM("PRIVATE KEY", private)), ClientEmail: "memoryd@" + Universe, ClientID: "1",
		TokenURI: "http://" + a.Tokens + "/token"}
	universal := of
	universal.Universe = Universe
	for name, of := range map[string]serviceAccount{forGo: universal, general: of} {
		text, err := json.MarshalIndent(of, "", "  ")
		if err != nil {
			return wrote, err
		}
		file := filepath.Join(a.Dir, name)
		if err := write(file, append(text, '\n'), 0o600, name == forGo); err != nil {
			return wrote, err
		}
		wrote = append(wrote, file)
	}
	slices.Sort(wrote)
	return wrote, nil
}

// checkPublic reads a public key of a client's own.
func checkPublic(text []byte) (raw []byte, err error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("the public key is no PEM of the type PUBLIC KEY, as openssl rsa -pubout writes it")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the public key: %w", err)
	}
	if of, ok := public.(*rsa.PublicKey); !ok || of.N.BitLen() < rsaBits {
		return nil, fmt.Errorf("the public key is not of RSA, of %d bits or more", rsaBits)
	}
	return block.Bytes, nil
}

// keyOf is the id of the key that the account of an id stands for.
func keyOf(id string) string {
	key, _, _ := strings.Cut(id, "-")
	return key
}
