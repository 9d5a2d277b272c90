// Package redistest starts real Redis servers for tests: one, or a cluster of
// three masters, on free ports of the loopback address and with their data in a
// temporary directory. Tests use real servers because scripts, clusters and
// failures cannot be trusted to a stand-in.
package redistest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is a running Redis.
type Server struct {
	Addr string // host:port
	Cert string // file of its certificate, if it speaks TLS
	dir  string
	args []string
	tls  bool
	cmd  *exec.Cmd
}

// Start runs a server until the test ends. Its append-only file is flushed with
// each write; args are more arguments of redis-server. Start skips the test if
// redis-server is not installed.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, false, args...)
}

// start is Start, for a server that speaks TLS or not.
func start(t testing.TB, tls bool, args ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed (Debian: apt-get install redis-server)")
	}
	dir, err := os.MkdirTemp("", "memoryd-redis-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Addr: free(t), dir: dir, args: args, tls: tls}
	t.Cleanup(func() {
		s.Kill()
		os.RemoveAll(dir)
	})
	s.Run(t)
	return s
}

// StartTLS runs a server that speaks only TLS, with a certificate of its own.
func StartTLS(t testing.TB) *Server {
	t.Helper()
	cert, key := Certificate(t)
	s := start(t, true, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert,
		"--tls-auth-clients", "no")
	s.Cert = cert
	return s
}

// Certificate makes a self-signed certificate for 127.0.0.1, and returns the
// files that it and its key are in.
func Certificate(t testing.TB) (cert, key string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	must(err)
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	must(err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
	return cert, key
}

// free returns an address on which no process listens, neither on its port nor
// on the port of the cluster bus.
func free(t testing.TB) string {
	t.Helper()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		port := l.Addr().(*net.TCPAddr).Port
		if port > 55_000 { // the bus has the port 10,000 above
			continue
		}
		bus, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+10_000))
		if err != nil {
			continue
		}
		bus.Close()
		return l.Addr().String()
	}
}

// Run starts the server, or starts it again after Kill, and waits until it
// serves.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	_, port, _ := net.SplitHostPort(s.Addr)
	if s.tls {
		s.args = append(s.args, "--tls-port", port)
		port = "0"
	}
	// No snapshots: with the append-only file, a restart has all writes that were
	// answered, however the server ended.
	args := append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", s.dir, "--appendonly", "yes",
		"--appendfsync", "always", "--save", "", "--logfile", filepath.Join(s.dir, "log")}, s.args...)
	s.cmd = exec.Command("redis-server", args...)
	s.cmd.SysProcAttr = childAttr()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", s.Addr)
		if err != nil {
			continue
		}
		if s.tls { // a PING would need a handshake
			c.Close()
			return
		}
		fmt.Fprint(c, "PING\r\n")
		answer := make([]byte, 64)
		n, _ := c.Read(answer)
		c.Close()
		if a := string(answer[:n]); strings.HasPrefix(a, "+PONG") || strings.HasPrefix(a, "-NOAUTH") {
			return
		}
	}
	log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	t.Fatalf("redis-server does not serve:\n%s", log)
}

// Kill ends the server at once, as a crash would. Its files stay.
func (s *Server) Kill() {
	if s.cmd != nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.cmd = nil
	}
}

// Wipe kills the server and removes its files: the next Run starts an empty one.
func (s *Server) Wipe(t testing.TB) {
	t.Helper()
	s.Kill()
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

// Backup kills the server, copies its files, and runs it again. It returns the
// directory of the copy.
func (s *Server) Backup(t testing.TB) string {
	t.Helper()
	s.Kill()
	dir := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	s.Run(t)
	return dir
}

// Restore kills the server and runs it again with the files of a backup.
func (s *Server) Restore(t testing.TB, backup string) {
	t.Helper()
	s.Wipe(t)
	if err := os.CopyFS(s.dir, os.DirFS(backup)); err != nil {
		t.Fatal(err)
	}
	s.Run(t)
}

// Signal sends the server a signal by name, such as STOP or CONT.
func (s *Server) Signal(t testing.TB, name string) {
	t.Helper()
	if out, err := exec.Command("kill", "-"+name, fmt.Sprint(s.cmd.Process.Pid)).CombinedOutput(); err != nil {
		t.Fatalf("kill: %v: %s", err, out)
	}
}

// URL is the URL of the server, for -sessions.
func (s *Server) URL() string { return "redis://" + s.Addr }

// Client is a plain client of the server.
func (s *Server) Client(t testing.TB) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: s.Addr})
	t.Cleanup(func() { c.Close() })
	return c
}

// Cluster is three masters that share the slots.
type Cluster struct{ Masters []*Server }

// StartCluster runs a cluster until the test ends.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	return StartClusterWith(t, func(int) []string { return nil })
}

// StartClusterWith runs a cluster whose nodes take more arguments of
// redis-server.
func StartClusterWith(t testing.TB, more func(node int) []string) *Cluster {
	t.Helper()
	c := &Cluster{}
	ctx := context.Background()
	for i := range 3 {
		args := append(more(i), "--cluster-enabled", "yes", "--cluster-node-timeout", "10000")
		c.Masters = append(c.Masters, Start(t, args...))
	}
	for i, s := range c.Masters {
		client := s.Client(t)
		// A cluster has 16,384 slots; each master gets a third.
		first, last := i*16384/3, (i+1)*16384/3-1
		if err := client.ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
			t.Fatal(err)
		}
		// Equal epochs are told apart only after a while. A replica that took over in
		// between could have its master's epoch, and the others would not follow it.
		if err := client.Do(ctx, "cluster", "set-config-epoch", i+1).Err(); err != nil {
			t.Fatal(err)
		}
		host, port, _ := net.SplitHostPort(c.Masters[0].Addr)
		if err := client.ClusterMeet(ctx, host, port).Err(); err != nil {
			t.Fatal(err)
		}
	}
	// Nodes tell each other of their slots by gossip, so all three have to know.
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		ready := 0
		for _, s := range c.Masters {
			info, err := s.Client(t).ClusterInfo(ctx).Result()
			if err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_size:3") {
				ready++
			}
		}
		if ready == len(c.Masters) {
			return c
		}
		if time.Now().After(end) {
			t.Fatal("the cluster did not form")
		}
	}
}

// URL is the URL of the cluster, for -sessions.
func (c *Cluster) URL() string {
	var addrs []string
	for _, s := range c.Masters {
		addrs = append(addrs, s.Addr)
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// Flush empties every master.
func (c *Cluster) Flush(t testing.TB) {
	t.Helper()
	for _, s := range c.Masters {
		s.Flush(t)
	}
}

// Flush empties the server.
func (s *Server) Flush(t testing.TB) {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer c.Close()
	if err := c.FlushAll(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
}

// AddReplica runs a replica of a master, and waits until every master knows it and it
// has the master's data.
func (c *Cluster) AddReplica(t testing.TB, master *Server) *Server {
	t.Helper()
	ctx := context.Background()
	r := Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "10000")
	client := r.Client(t)
	host, port, _ := net.SplitHostPort(master.Addr)
	if err := client.ClusterMeet(ctx, host, port).Err(); err != nil {
		t.Fatal(err)
	}
	id := master.Client(t).ClusterMyID(ctx).Val()
	self := client.ClusterMyID(ctx).Val()
	known := false
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var err error
		if !known {
			err = client.ClusterReplicate(ctx, id).Err()
			known = err == nil
		}
		info := client.Info(ctx, "replication").Val()
		if known && strings.Contains(info, "master_link_status:up") && c.hasReplica(t, self) {
			return r
		}
		if time.Now().After(end) {
			t.Fatalf("the replica has no link to its master: %v\n%s", err, info)
		}
	}
}

// hasReplica reports whether every master knows a node as a replica.
func (c *Cluster) hasReplica(t testing.TB, id string) bool {
	for _, m := range c.Masters {
		known := false
		for line := range strings.Lines(m.Client(t).ClusterNodes(t.Context()).Val()) {
			known = known || strings.HasPrefix(line, id) && strings.Contains(line, "slave")
		}
		if !known {
			return false
		}
	}
	return true
}

// Dir has the files of the server.
func (s *Server) Dir() string { return s.dir }

// Rewrite has the server write its append-only file and its snapshot once more, as they
// are then without what it no longer has, and waits until it has.
func (s *Server) Rewrite(t testing.TB) {
	t.Helper()
	c := s.Client(t)
	for _, begin := range []func(context.Context) *redis.StatusCmd{c.BgRewriteAOF, c.BgSave} {
		if err := begin(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		for busy := true; busy; time.Sleep(10 * time.Millisecond) {
			info, err := c.Info(t.Context(), "persistence").Result()
			if err != nil {
				t.Fatal(err)
			}
			busy = strings.Contains(info, "_in_progress:1") || strings.Contains(info, "_scheduled:1")
		}
	}
}
