package modeltest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// NewGemini runs a server of the Gemini API and of Vertex AI. Getenv has the
// environment for the Gemini API, OnVertex that for Vertex AI.
func NewGemini(t testing.TB, script Script) *Server {
	t.Helper()
	s := start(t, google{}, script)
	s.env = map[string]string{"GEMINI_API_KEY": Key, "GOOGLE_GEMINI_BASE_URL": s.base}
	return s
}

// OnVertex returns an environment in which clients use this server as Vertex AI.
func (s *Server) OnVertex(name string) string {
	return map[string]string{
		"GOOGLE_GENAI_USE_VERTEXAI": "true",
		"GOOGLE_CLOUD_PROJECT":      "project-1",
		"GOOGLE_CLOUD_LOCATION":     "europe-west4",
		"GOOGLE_VERTEX_BASE_URL":    s.base,
	}[name]
}

const tokenPath = "/token"

// Credentials writes a file for GOOGLE_APPLICATION_CREDENTIALS, of an account that
// gets its tokens from this server.
func (s *Server) Credentials(account string) string {
	s.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		s.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "project-1", "client_email": account, "token_uri": s.base + tokenPath,
		"private_key_id": "1", "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(s.t.TempDir(), "credentials.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// Unknown is the name of an account that gets no token.
const Unknown = "unknown@example.com"

// token serves the OAuth endpoint. Its tokens are the key.
func (s *Server) token(w http.ResponseWriter, r *http.Request, body []byte) {
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		s.write(w, http.StatusBadRequest, map[string]string{"error": "unsupported_grant_type"})
		return
	}
	var claims struct{ Iss string }
	if err := jwtClaims(form.Get("assertion"), &claims); err != nil || claims.Iss == Unknown {
		s.write(w, http.StatusBadRequest,
			map[string]string{"error": "invalid_grant", "error_description": "Invalid grant: account not found"})
		return
	}
	s.write(w, http.StatusOK, map[string]any{"access_token": Key, "token_type": "Bearer", "expires_in": 3600})
}

// google is the dialect of Google (ai.google.dev/api, and the reference of Vertex
// AI).
type google struct{}

// The paths of the two APIs. A key of Vertex AI needs no project in the path.
var (
	onGeminiAPI = regexp.MustCompile(`^/v1beta/models/([^/:]+):(\w+)$`)
	onVertexAI  = regexp.MustCompile(
		`^/v1beta1/(?:projects/[^/]+/locations/[^/]+/)?publishers/google/models/([^/:]+):(\w+)$`,
	)
)

// gContent is a Content of Google's APIs, of which memoryd sends text parts alone.
type gContent struct {
	Role  string
	Parts []struct{ Text *string }
}

// text joins the text parts, as the model would read them.
func (c *gContent) text() string {
	if c == nil {
		return ""
	}
	var texts []string
	for _, p := range c.Parts {
		if p.Text != nil {
			texts = append(texts, *p.Text)
		}
	}
	return strings.Join(texts, "")
}

// read implements dialect. The Gemini API takes a key, and reports a wrong one with
// status 400. Vertex AI takes a key or an OAuth token.
func (google) read(r *http.Request, body []byte) (q Request, f *fault) {
	vertex := false
	m := onGeminiAPI.FindStringSubmatch(r.URL.Path)
	if m == nil {
		m, vertex = onVertexAI.FindStringSubmatch(r.URL.Path), true
	}
	if m == nil || r.Method != http.MethodPost {
		return q, &fault{status: http.StatusNotFound, message: "Requested entity was not found."}
	}
	q.Model = m[1]
	switch {
	case r.Header.Get("x-goog-api-key") == Key:
	case r.Header.Get("x-goog-api-key") != "":
		return q, &fault{
			status:  http.StatusBadRequest,
			message: "API key not valid. Please pass a valid API key.",
			reason:  "API_KEY_INVALID",
		}
	case vertex && r.Header.Get("Authorization") == "Bearer "+Key:
	case r.Header.Get("Authorization") != "":
		return q, &fault{status: http.StatusUnauthorized, message: "Request had invalid authentication credentials."}
	default:
		return q, &fault{
			status:  http.StatusForbidden,
			message: "Method doesn't allow unregistered callers (callers without established identity).",
		}
	}
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return q, &fault{status: http.StatusBadRequest, message: "Invalid content type " + kind}
	}
	var err error
	switch method := m[2]; {
	case method == "generateContent":
		q.Kind = "generate"
		err = googleGenerate(&q, body)
	case method == "batchEmbedContents" && !vertex:
		q.Kind = "embed"
		err = googleEmbed(&q, body)
	case method == "predict" && vertex:
		q.Kind = "embed"
		err = googlePredict(&q, body)
	case method == "embedContent" && vertex:
		q.Kind = "embed"
		err = googleEmbedOne(&q, body)
	default:
		return q, &fault{
			status: http.StatusNotFound,
			message: "models/" + q.Model + " is not found for API version v1beta, " +
				"or is not supported for " + method + ".",
		}
	}
	if err != nil {
		return q, &fault{status: http.StatusBadRequest, message: err.Error()}
	}
	return q, nil
}

// invalidPayload is the error of a request with an unknown field.
func invalidPayload(err error) error {
	return fmt.Errorf("Invalid JSON payload received. %v: Cannot find field.", err)
}

// googleGenerate reads generateContent. It checks what the service checks and memoryd
// could get wrong: roles, the schema's content type, and settings of thinking that
// differ between generations of models.
func googleGenerate(q *Request, body []byte) error {
	var in struct {
		Contents          []gContent
		SystemInstruction *gContent
		GenerationConfig  struct {
			ResponseMimeType   string
			ResponseJsonSchema map[string]any
			Temperature        *float64
			MaxOutputTokens    int
			ThinkingConfig     *struct {
				ThinkingBudget *int
				ThinkingLevel  string
			}
		}
	}
	if err := decode(body, &in); err != nil {
		return invalidPayload(err)
	}
	config := in.GenerationConfig
	switch {
	case len(in.Contents) == 0:
		return fmt.Errorf("* GenerateContentRequest.contents: contents is not specified")
	case in.Contents[0].Role != "user":
		return fmt.Errorf("Please use a valid role: user, model.")
	case in.Contents[0].text() == "":
		return fmt.Errorf("* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.")
	case config.ResponseJsonSchema != nil && config.ResponseMimeType != "application/json":
		return fmt.Errorf("* GenerateContentRequest.generation_config.response_json_schema: " +
			"only allowed with response_mime_type application/json")
	case config.Temperature != nil && (*config.Temperature < 0 || *config.Temperature > 2):
		return fmt.Errorf("Unable to submit request because it has a temperature value out of range [0.0, 2.0].")
	}
	if t := config.ThinkingConfig; t != nil {
		switch {
		case t.ThinkingBudget != nil && t.ThinkingLevel != "":
			return fmt.Errorf("You can only set one of thinking budget and thinking level.")
		case t.ThinkingBudget != nil && *t.ThinkingBudget == 0 && strings.HasSuffix(q.Model, "-pro"):
			return fmt.Errorf("Budget 0 is invalid. This model only works in thinking mode.")
		case t.ThinkingLevel != "" && !strings.HasPrefix(q.Model, "gemini-3"):
			return fmt.Errorf("Thinking level is not supported for this model.")
		}
	}
	q.System, q.Data = in.SystemInstruction.text(), in.Contents[0].text()
	q.Schema, q.MaxTokens = config.ResponseJsonSchema, config.MaxOutputTokens
	return nil
}

// googleEmbed reads batchEmbedContents, which the Gemini API has. Each part of a batch
// names the model of the whole, and task and dimension are taken from the last.
func googleEmbed(q *Request, body []byte) error {
	var in struct {
		Requests []struct {
			Model                string
			Content              gContent
			TaskType             string
			OutputDimensionality int
		}
	}
	if err := decode(body, &in); err != nil {
		return invalidPayload(err)
	}
	if len(in.Requests) == 0 || len(in.Requests) > 100 {
		return fmt.Errorf("* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch")
	}
	for i, r := range in.Requests {
		switch {
		case r.Model != "models/"+q.Model:
			return fmt.Errorf("* BatchEmbedContentsRequest.requests[%d].model: must match the model of the batch", i)
		case r.Content.text() == "":
			return fmt.Errorf("* BatchEmbedContentsRequest.requests[%d].content: content is empty", i)
		}
		q.Texts = append(q.Texts, r.Content.text())
		q.Task, q.Dimension = r.TaskType, r.OutputDimensionality
	}
	return nil
}

// googlePredict reads predict, by which Vertex AI embeds with older models;
// gemini-embedding-001 takes one text in a call there.
func googlePredict(q *Request, body []byte) error {
	var in struct {
		Instances []struct {
			Content  string
			TaskType string `json:"task_type"`
		}
		Parameters struct{ OutputDimensionality int }
	}
	if err := decode(body, &in); err != nil {
		return invalidPayload(err)
	}
	if len(in.Instances) != 1 && q.Model == "gemini-embedding-001" {
		return fmt.Errorf("The number of instances must be 1 for model %s.", q.Model)
	}
	for _, instance := range in.Instances {
		if instance.Content == "" {
			return fmt.Errorf("The text content is empty.")
		}
		q.Texts = append(q.Texts, instance.Content)
		q.Task = instance.TaskType
	}
	q.Dimension = in.Parameters.OutputDimensionality
	return nil
}

// googleEmbedOne reads embedContent, by which Vertex AI embeds with newer models.
func googleEmbedOne(q *Request, body []byte) error {
	var in struct {
		Content            gContent
		EmbedContentConfig struct {
			TaskType             string
			OutputDimensionality int
		}
	}
	if err := decode(body, &in); err != nil {
		return invalidPayload(err)
	}
	if in.Content.text() == "" {
		return fmt.Errorf("The text content is empty.")
	}
	q.Texts = []string{in.Content.text()}
	q.Task, q.Dimension = in.EmbedContentConfig.TaskType, in.EmbedContentConfig.OutputDimensionality
	return nil
}

// answer implements dialect. A blocked prompt has feedback and no candidates, with
// status 200.
func (google) answer(q Request, r Reply) any {
	if q.Kind == "embed" {
		return googleVectors(q, r)
	}
	usage := map[string]any{
		"promptTokenCount":     r.Input,
		"candidatesTokenCount": r.Output,
		"totalTokenCount":      r.Input + r.Output + r.Thinking,
	}
	if r.Thinking > 0 {
		usage["thoughtsTokenCount"] = r.Thinking
	}
	out := map[string]any{"usageMetadata": usage, "modelVersion": q.Model, "responseId": "1"}
	switch {
	case r.Refusal != "":
		out["promptFeedback"] = map[string]any{"blockReason": r.Refusal}
		return out
	case r.NoAnswer:
		return out
	}
	finish := r.Finish
	switch finish {
	case Stop:
		finish = "STOP"
	case Length:
		finish = "MAX_TOKENS"
	case Filtered:
		finish = "SAFETY"
	}
	var parts []any
	if r.Thought != "" {
		parts = append(parts, map[string]any{"text": r.Thought, "thought": true})
	}
	parts = append(parts, map[string]any{"text": r.text()})
	out["candidates"] = []any{
		map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": finish, "index": 0},
	}
	return out
}

// fullDimension is the dimension of gemini-embedding-001.
const fullDimension = 3072

// googleVectors is the answer to each of the three ways to embed. As the service
// does, it scales only vectors of the full dimension to unit length.
func googleVectors(q Request, r Reply) any {
	dimension, scale := fullDimension, 1.0
	if q.Dimension != 0 && q.Dimension != fullDimension {
		dimension, scale = q.Dimension, 0.7 // a shortened vector loses a part of its length
	}
	all := vectors(q, r, dimension, scale)
	switch {
	case strings.HasSuffix(q.Path, ":predict"):
		var out []any
		for _, v := range all {
			statistics := map[string]any{"token_count": 1, "truncated": false}
			out = append(out, map[string]any{"embeddings": map[string]any{"values": v, "statistics": statistics}})
		}
		return map[string]any{"predictions": out}
	case strings.HasSuffix(q.Path, ":embedContent"):
		return map[string]any{"embedding": map[string]any{"values": all[0]}}
	}
	out := []any{}
	for _, v := range all {
		out = append(out, map[string]any{"values": v})
	}
	return map[string]any{"embeddings": out}
}

// statuses has the google.rpc.Code of each HTTP status.
var statuses = map[int]string{
	400: "INVALID_ARGUMENT",
	401: "UNAUTHENTICATED",
	403: "PERMISSION_DENIED",
	404: "NOT_FOUND",
	429: "RESOURCE_EXHAUSTED",
	500: "INTERNAL",
	503: "UNAVAILABLE",
	504: "DEADLINE_EXCEEDED",
}

// fault implements dialect: a google.rpc.Status, with details for a wrong key
// (ErrorInfo) and for a quota that says when to try again (RetryInfo).
func (google) fault(f fault) any {
	if f.code == "" {
		f.code = statuses[f.status]
	}
	e := map[string]any{"code": f.status, "message": f.message, "status": f.code}
	var details []any
	if f.reason != "" {
		details = append(details, map[string]any{
			"@type":    "type.googleapis.com/google.rpc.ErrorInfo",
			"reason":   f.reason,
			"domain":   "googleapis.com",
			"metadata": map[string]string{"service": "generativelanguage.googleapis.com"},
		})
	}
	if f.retryDelay != "" {
		details = append(details, map[string]any{
			"@type":      "type.googleapis.com/google.rpc.QuotaFailure",
			"violations": []any{map[string]any{"quotaMetric": "requests"}},
		}, map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f.retryDelay})
	}
	if details != nil {
		e["details"] = details
	}
	return map[string]any{"error": e}
}
