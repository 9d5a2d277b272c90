package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/http/httpguts"

	"github.com/memoryd/memoryd/internal/telemetry"
)

// telemetryConfig says which traces and metrics go to a collector of OpenTelemetry.
type telemetryConfig struct {
	endpoint    string // nothing is sent without one
	headersFile string
	signals     string
	ratio       float64
	content     bool
}

// telemetryFlagNames are the flags of serve that are about OpenTelemetry.
func telemetryFlagNames() []string {
	return []string{"otlp-endpoint", "otlp-headers-file", "otlp-signals", "trace-ratio", "trace-content"}
}

// The signals that -otlp-signals names.
const (
	signalTraces  = "traces"
	signalMetrics = "metrics"
)

func telemetryFlags(fs *flag.FlagSet, t *telemetryConfig) {
	fs.StringVar(&t.endpoint, "otlp-endpoint", "",
		"`URL` of a collector of OpenTelemetry that takes OTLP over HTTP; nothing is sent without one")
	fs.StringVar(&t.headersFile, "otlp-headers-file", "",
		"`FILE` with headers for the collector, such as a key: a line NAME: VALUE each")
	fs.StringVar(&t.signals, "otlp-signals", signalTraces+","+signalMetrics,
		"`SIGNALS` that the collector gets: traces, metrics, or both with a comma between them")
	fs.Float64Var(&t.ratio, "trace-ratio", 1,
		"`SHARE` of the traces that are sent, 0 to 1, of those that no caller has decided about")
	fs.BoolVar(&t.content, "trace-content", false,
		"have traces show what was said, asked and answered: queries, facts, and prompts and answers of models")
}

// check refuses an endpoint with a password, a query or a fragment in it: headers have a
// file of their own.
func (t *telemetryConfig) check() error {
	if !(t.ratio >= 0 && t.ratio <= 1) {
		return fmt.Errorf("-trace-ratio %v: want 0 to 1", t.ratio)
	}
	for signal := range strings.SplitSeq(t.signals, ",") {
		if signal != signalTraces && signal != signalMetrics {
			return fmt.Errorf("-otlp-signals %q: want traces, metrics or traces,metrics", t.signals)
		}
	}
	if t.endpoint == "" {
		return nil
	}
	u, err := url.Parse(t.endpoint)
	switch {
	case err != nil: // not in the error, since it repeats the URL
		return errors.New("-otlp-endpoint: it cannot be read as a URL: want http://HOST:PORT or https://HOST")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("-otlp-endpoint: want http://HOST:PORT or https://HOST")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("-otlp-endpoint: want a host and a path alone:" +
			" passwords and keys are in -otlp-headers-file")
	}
	return nil
}

// shown are the flags for the log of a start. None of them holds a secret.
func (t *telemetryConfig) shown() []any {
	return []any{"otlp-endpoint", t.endpoint, "otlp-headers-file", t.headersFile, "otlp-signals", t.signals,
		"trace-ratio", t.ratio, "trace-content", t.content}
}

func (t *telemetryConfig) sends(signal string) bool {
	return t.endpoint != "" && slices.Contains(strings.Split(t.signals, ","), signal)
}

// maxHeaders bounds the file of headers, in bytes, as servers bound a request's.
const maxHeaders = 64 << 10

// headers reads the file of headers. No error shows a value.
func (t *telemetryConfig) headers() (map[string]string, error) {
	out := map[string]string{}
	if t.headersFile == "" {
		return out, nil
	}
	f, err := os.Open(t.headersFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxHeaders+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxHeaders {
		return nil, fmt.Errorf("it has more than %d bytes", maxHeaders)
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch {
		case !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
			return nil, fmt.Errorf("line %d: want NAME: VALUE", n)
		case strings.HasPrefix(name, "Content-") || name == "Host" || name == "Transfer-Encoding":
			return nil, fmt.Errorf("line %d: memoryd sets the header %s itself", n, name)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("line %d: the header %s is there twice", n, name)
		}
		out[name] = value
	}
	return out, nil
}

// start begins to send what the flags ask for; nothing without an endpoint. metrics
// reads the metrics as they are.
func (t *telemetryConfig) start(metrics prometheus.GathererFunc, log *slog.Logger) (*telemetry.Telemetry, error) {
	if t.endpoint == "" {
		return nil, nil
	}
	headers, err := t.headers()
	if err != nil {
		return nil, fmt.Errorf("-otlp-headers-file %s: %w", t.headersFile, err)
	}
	o := telemetry.Options{Endpoint: t.endpoint, Headers: headers, Traces: t.sends(signalTraces), Ratio: t.ratio,
		Version: version(), Log: log}
	if t.sends(signalMetrics) {
		o.Metrics = metrics
	}
	return telemetry.Start(o)
}
