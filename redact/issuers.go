package redact

import (
	"strings"
)

// issuer is the form of the keys of one issuer: a prefix, and characters of a set after
// it. The prefixes are those that the issuers document, or that the scanners of GitHub,
// GitLab and gitleaks list. Lengths are lower bounds: a key that was cut short, as in a
// message, is a secret too, and issuers make keys longer over time.
type issuer struct {
	form   string
	prefix string
	set    *charset
	least  int  // characters after the prefix
	most   int  // 0 is any number
	random bool // what follows must look as a machine made it
	hidden bool // the prefix is shown: it is an address, and says where the key is from
}

var (
	alnumSet  = chars("A-Za-z0-9")
	upperSet  = chars("A-Z0-9")
	hexSet    = chars("a-fA-F0-9")
	wordSet   = chars("A-Za-z0-9_-")
	dottedSet = chars("A-Za-z0-9_.-")
	base64Set = chars("A-Za-z0-9+/=_-")
	pathSet   = chars("A-Za-z0-9_/.-")
	azureSet  = chars("A-Za-z0-9_.~-")
	sigSet    = chars("A-Za-z0-9%+/=_-")
	tokenSet  = chars("A-Za-z0-9._~+/=:-")
)

// issuers is the table of issuers. Rows of one first byte are tried in their order.
var issuers = []issuer{
	{form: "aws", prefix: "AKIA", set: upperSet, least: 16, most: 16},
	{form: "aws", prefix: "ASIA", set: upperSet, least: 16, most: 16},
	{form: "aws", prefix: "ABIA", set: upperSet, least: 16, most: 16},
	{form: "aws", prefix: "ACCA", set: upperSet, least: 16, most: 16},
	{form: "aws", prefix: "ABSK", set: base64Set, least: 80}, // of Bedrock
	{form: "google", prefix: "AIza", set: wordSet, least: 30},
	{form: "google", prefix: "GOCSPX-", set: wordSet, least: 20},
	{form: "google", prefix: "ya29.", set: dottedSet, least: 20},
	{form: "google", prefix: "1//0", set: wordSet, least: 30},
	{form: "google", prefix: "AQ.Ab", set: wordSet, least: 30},
	{form: "firebase", prefix: "AAAA", set: chars("A-Za-z0-9_:-"), least: 120},

	{form: "github", prefix: "ghp_", set: alnumSet, least: 20},
	{form: "github", prefix: "gho_", set: alnumSet, least: 20},
	{form: "github", prefix: "ghu_", set: alnumSet, least: 20},
	{form: "github", prefix: "ghs_", set: dottedSet, least: 20},
	{form: "github", prefix: "ghr_", set: alnumSet, least: 20},
	{form: "github", prefix: "github_pat_", set: wordSet, least: 22},
	{form: "gitlab", prefix: "GR1348941", set: wordSet, least: 16},

	{form: "slack", prefix: "xoxb-", set: wordSet, least: 10},
	{form: "slack", prefix: "xoxp-", set: wordSet, least: 10},
	{form: "slack", prefix: "xoxa-", set: wordSet, least: 10},
	{form: "slack", prefix: "xoxr-", set: wordSet, least: 10},
	{form: "slack", prefix: "xoxs-", set: wordSet, least: 10},
	{form: "slack", prefix: "xoxo-", set: wordSet, least: 10},
	{form: "slack", prefix: "xoxc-", set: wordSet, least: 10},
	{form: "slack", prefix: "xoxd-", set: chars("A-Za-z0-9_%+/=-"), least: 10},
	{form: "slack", prefix: "xoxe", set: dottedSet, least: 12, random: true},
	{form: "slack", prefix: "xapp-", set: wordSet, least: 10, random: true},
	{form: "slack", prefix: "hooks.slack.com/services/", set: pathSet, least: 10, hidden: true},
	{form: "slack", prefix: "hooks.slack.com/workflows/", set: pathSet, least: 10, hidden: true},
	{form: "slack", prefix: "hooks.slack.com/triggers/", set: pathSet, least: 10, hidden: true},

	{form: "stripe", prefix: "sk_live_", set: alnumSet, least: 10},
	{form: "stripe", prefix: "sk_test_", set: alnumSet, least: 10},
	{form: "stripe", prefix: "rk_live_", set: alnumSet, least: 10},
	{form: "stripe", prefix: "rk_test_", set: alnumSet, least: 10},
	{form: "stripe", prefix: "pk_live_", set: alnumSet, least: 10},
	{form: "stripe", prefix: "pk_test_", set: alnumSet, least: 10},
	{form: "stripe", prefix: "whsec_", set: base64Set, least: 20},

	{form: "anthropic", prefix: "sk-ant-", set: wordSet, least: 16},
	{form: "openai", prefix: "sk-proj-", set: wordSet, least: 16},
	{form: "openai", prefix: "sk-svcacct-", set: wordSet, least: 16},
	{form: "openai", prefix: "sk-admin-", set: wordSet, least: 16},
	{form: "openai", prefix: "sk-None-", set: wordSet, least: 16},
	{form: "openrouter", prefix: "sk-or-", set: wordSet, least: 20},
	{form: "openai", prefix: "sk-", set: wordSet, least: 20, random: true},
	{form: "openai", prefix: "sess-", set: alnumSet, least: 32, random: true},
	{form: "huggingface", prefix: "hf_", set: alnumSet, least: 20, random: false},
	{form: "huggingface", prefix: "api_org_", set: alnumSet, least: 20},
	{form: "groq", prefix: "gsk_", set: alnumSet, least: 20, random: true},
	{form: "xai", prefix: "xai-", set: alnumSet, least: 30, random: true},
	{form: "replicate", prefix: "r8_", set: alnumSet, least: 20, random: true},
	{form: "perplexity", prefix: "pplx-", set: alnumSet, least: 20, random: true},
	{form: "nvidia", prefix: "nvapi-", set: wordSet, least: 30},
	{form: "tavily", prefix: "tvly-", set: wordSet, least: 20, random: true},
	{form: "langsmith", prefix: "lsv2_", set: wordSet, least: 20, random: true},

	{form: "npm", prefix: "npm_", set: alnumSet, least: 24},
	{form: "pypi", prefix: "pypi-", set: wordSet, least: 24, random: true},
	{form: "rubygems", prefix: "rubygems_", set: hexSet, least: 24},
	{form: "docker", prefix: "dckr_pat_", set: wordSet, least: 16},
	{form: "docker", prefix: "dckr_oat_", set: wordSet, least: 16},
	{form: "crates", prefix: "cio", set: alnumSet, least: 32, most: 32, random: true},

	{form: "twilio", prefix: "SK", set: hexSet, least: 32, most: 32},
	{form: "twilio", prefix: "AC", set: hexSet, least: 32, most: 32},
	{form: "sendgrid", prefix: "SG.", set: dottedSet, least: 20, random: true},
	{form: "mailgun", prefix: "key-", set: hexSet, least: 32, most: 32},
	{form: "brevo", prefix: "xkeysib-", set: wordSet, least: 30},
	{form: "brevo", prefix: "xsmtpsib-", set: wordSet, least: 30},

	{form: "digitalocean", prefix: "dop_v1_", set: hexSet, least: 32},
	{form: "digitalocean", prefix: "doo_v1_", set: hexSet, least: 32},
	{form: "digitalocean", prefix: "dor_v1_", set: hexSet, least: 32},
	{form: "databricks", prefix: "dapi", set: chars("a-f0-9-"), least: 32},
	{form: "databricks", prefix: "dose", set: chars("a-f0-9"), least: 32, most: 32},
	{form: "shopify", prefix: "shpat_", set: hexSet, least: 24},
	{form: "shopify", prefix: "shpca_", set: hexSet, least: 24},
	{form: "shopify", prefix: "shppa_", set: hexSet, least: 24},
	{form: "shopify", prefix: "shpss_", set: hexSet, least: 24},
	{form: "shopify", prefix: "shpua_", set: hexSet, least: 24},
	{form: "square", prefix: "sq0", set: wordSet, least: 24, random: true},
	{form: "square", prefix: "EAAA", set: wordSet, least: 56, random: true},
	{form: "facebook", prefix: "EAA", set: alnumSet, least: 80, random: true},
	{form: "razorpay", prefix: "rzp_live_", set: alnumSet, least: 10},
	{form: "razorpay", prefix: "rzp_test_", set: alnumSet, least: 10},
	{form: "paystack", prefix: "FLWSECK", set: wordSet, least: 20, random: true},
	{form: "shippo", prefix: "shippo_", set: wordSet, least: 24, random: true},

	{form: "vault", prefix: "hvs.", set: wordSet, least: 20},
	{form: "vault", prefix: "hvb.", set: wordSet, least: 20},
	{form: "vault", prefix: "hvr.", set: wordSet, least: 20},
	{form: "pulumi", prefix: "pul-", set: hexSet, least: 30},
	{form: "grafana", prefix: "glsa_", set: wordSet, least: 20},
	{form: "grafana", prefix: "glc_", set: base64Set, least: 30, random: true},
	{form: "newrelic", prefix: "NRAK-", set: upperSet, least: 20},
	{form: "newrelic", prefix: "NRJS-", set: hexSet, least: 16},
	{form: "sentry", prefix: "sntrys_", set: base64Set, least: 30},
	{form: "sentry", prefix: "sntryu_", set: hexSet, least: 30},
	{form: "postman", prefix: "PMAK-", set: wordSet, least: 30},
	{form: "linear", prefix: "lin_api_", set: alnumSet, least: 24},
	{form: "linear", prefix: "lin_oauth_", set: alnumSet, least: 24},
	{form: "notion", prefix: "ntn_", set: alnumSet, least: 30},
	{form: "notion", prefix: "secret_", set: alnumSet, least: 32, random: true},
	{form: "figma", prefix: "figd_", set: wordSet, least: 20},
	{form: "airtable", prefix: "pat", set: dottedSet, least: 60, random: true},
	{form: "hubspot", prefix: "pat-na", set: wordSet, least: 30},
	{form: "hubspot", prefix: "pat-eu", set: wordSet, least: 30},
	{form: "doppler", prefix: "dp.", set: dottedSet, least: 30, random: true},
	{form: "contentful", prefix: "CFPAT-", set: wordSet, least: 30},
	{form: "atlassian", prefix: "ATATT3", set: base64Set, least: 30},
	{form: "atlassian", prefix: "ATCTT3", set: base64Set, least: 30},
	{form: "bitbucket", prefix: "ATBB", set: base64Set, least: 24, random: true},
	{form: "cloudflare", prefix: "v1.0-", set: hexSet, least: 24, random: true},
	{form: "supabase", prefix: "sbp_", set: hexSet, least: 30},
	{form: "supabase", prefix: "sb_secret_", set: wordSet, least: 16},
	{form: "planetscale", prefix: "pscale_", set: dottedSet, least: 30},
	{form: "fly", prefix: "fo1_", set: wordSet, least: 30},
	{form: "fly", prefix: "FlyV1 fm", set: base64Set, least: 30},
	{form: "heroku", prefix: "HRKU-", set: wordSet, least: 30},
	{form: "netlify", prefix: "nfp_", set: alnumSet, least: 30},
	{form: "dropbox", prefix: "sl.", set: wordSet, least: 100},
	{form: "alibaba", prefix: "LTAI", set: alnumSet, least: 12, most: 26, random: true},
	{form: "tencent", prefix: "AKID", set: alnumSet, least: 32, most: 32},
	{form: "age", prefix: "AGE-SECRET-KEY-1", set: upperSet, least: 40},
	{form: "mapbox", prefix: "sk.eyJ", set: dottedSet, least: 30},
	{form: "terraform", prefix: "atlasv1.", set: wordSet, least: 30},
	{form: "memoryd", prefix: "memoryd_", set: wordSet, least: 60, random: true},

	{form: "discord", prefix: "discord.com/api/webhooks/", set: pathSet, least: 20, hidden: true},
	{form: "discord", prefix: "discordapp.com/api/webhooks/", set: pathSet, least: 20, hidden: true},
	{form: "teams", prefix: "webhook.office.com/webhookb2/", set: chars("A-Za-z0-9_/@.-"), least: 30, hidden: true},
	{form: "zapier", prefix: "hooks.zapier.com/hooks/catch/", set: pathSet, least: 10, hidden: true},
	{form: "discord", prefix: "mfa.", set: wordSet, least: 60},
}

// issuersBy has the rows of issuers by their first byte.
var issuersBy = func() (by [256][]*issuer) {
	for i := range issuers {
		first := issuers[i].prefix[0]
		by[first] = append(by[first], &issuers[i])
	}
	return by
}()

// issuers finds the keys of issuers, and the other forms that a key shows by itself.
func (s *scan) issuers() {
	text := s.text
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '-':
			if strings.HasPrefix(text[i:], "-----BEGIN ") {
				i = s.pem(i) - 1
				continue
			}
		case !isAlnum(c):
			continue
		}
		if i > 0 && isAlnum(c) && isAlnum(text[i-1]) && !escaped(text, i) {
			continue
		}
		end := 0
		for _, row := range issuersBy[c] {
			if end = row.match(text, i); end > 0 {
				start := i
				if row.hidden {
					start += len(row.prefix)
				}
				s.add(Keys, row.form, start, end)
				break
			}
		}
		if end == 0 {
			end = s.shaped(i)
		}
		if end > i {
			i = end - 1
		}
	}
	if s.assigns {
		s.signatures()
	}
}

// match returns where the key that begins at i ends; 0 if there is none.
func (f *issuer) match(text string, i int) int {
	if !strings.HasPrefix(text[i:], f.prefix) {
		return 0
	}
	from := i + len(f.prefix)
	end := f.set.run(text[:min(len(text), from+judged)], from)
	for end > from && (text[end-1] == '.' || text[end-1] == '-' && f.set == dottedSet) { // of the sentence
		end--
	}
	n := end - from
	if n < f.least || f.most > 0 && n > f.most {
		return 0
	}
	if f.random && !random(text[from:end], 1) {
		return 0
	}
	if end == from+judged {
		end = f.set.run(text, end)
	}
	return end
}

// judged is how much of a run of characters decides what it is, in bytes: longer runs
// that are no key must not be read again from each of their words on.
const judged = 256

// shaped finds keys without a prefix of their own whose whole shape tells: it returns
// the end of one that begins at i, or 0.
func (s *scan) shaped(i int) int {
	if strings.HasPrefix(s.text[i:], "eyJ") {
		return s.jwt(i)
	}
	end := wordSet.run(s.text[:min(len(s.text), i+judged)], i)
	for _, form := range []struct {
		name string
		end  func(text string, i, end int) int
	}{{"telegram", telegram}, {"discord", discord}, {"mail", mailService}, {"gitlab", gitlabToken}, {"azure",
		azureApp}} {
		if stop := form.end(s.text, i, end); stop > 0 {
			s.add(Keys, form.name, i, stop)
			return stop
		}
	}
	return 0
}

// telegram is the form of a bot: its id, and some 35 characters. Its run of letters and
// digits is text[i:end].
func telegram(text string, i, end int) int {
	if n := end - i; n < 6 || n > 12 || byteAt(text, end) != ':' || !digitsOnly(text[i:end]) {
		return 0
	}
	from := end + 1
	if stop := wordSet.run(text, from); stop-from >= 32 && entropy(text[from:min(stop, from+judged)]) > 4 {
		return stop
	}
	return 0
}

// discord is the form of a bot: its id in base64, a time, and a signature.
func discord(text string, i, end int) int {
	if n := end - i; n < 23 || n > 28 || byteAt(text, end) != '.' || strings.IndexByte("MNO", text[i]) < 0 {
		return 0
	}
	second := wordSet.run(text, end+1)
	if second-end != 7 || byteAt(text, second) != '.' {
		return 0
	}
	if third := wordSet.run(text, second+1); third-second >= 27 {
		return third
	}
	return 0
}

// mailService is the form of Mailchimp, 32 digits of hexadecimal and a place, and that of
// Mailgun, with two groups behind.
func mailService(text string, i, end int) int {
	if n := end - i; n < 35 || n > 50 || text[i+32] != '-' || !allHex(text[i:i+32]) {
		return 0
	}
	rest := text[i+33 : end]
	if strings.HasPrefix(rest, "us") && digitsOnly(rest[2:]) ||
		len(rest) == 17 && rest[8] == '-' && allHex(rest[:8]) && allHex(rest[9:]) {
		return end
	}
	return 0
}

// gitlabToken is the form of GitLab, which may go on behind a point.
func gitlabToken(text string, i, end int) int {
	if end-i < 20 || gitlab(text[i:]) == 0 {
		return 0
	}
	if stop := dottedSet.run(text, end); byteAt(text, stop-1) != '.' {
		return stop
	}
	return wordSet.run(text, end)
}

// azureApp is the form of a secret of an app in Azure: its version is the fourth
// character, and "Q~" follows.
func azureApp(text string, i, end int) int {
	if end-i != 5 || byteAt(text, end) != '~' || text[i+4] != 'Q' || !isDigit(text[i+3]) {
		return 0
	}
	if stop := azureSet.run(text, end+1); stop-i >= 32 {
		return stop
	}
	return 0
}

// gitlab returns the length of the prefix of a token of GitLab: "gl", letters that say
// for what it is, and a hyphen.
func gitlab(text string) int {
	if !strings.HasPrefix(text, "gl") {
		return 0
	}
	at := strings.IndexByte(text, '-')
	if at < 4 || at > 8 {
		return 0
	}
	switch text[2:at] {
	case "pat", "dt", "rt", "rtr", "cbt", "ptt", "ft", "soat", "imt", "agent", "oas", "ffct", "wt":
		return at + 1
	}
	return 0
}

// jwt finds a JSON Web Token at i: two parts of base64 that begin as objects, and a
// signature, which may be cut off. One of five parts is encrypted.
func (s *scan) jwt(i int) int {
	parts, at := 0, i
	for parts < 5 {
		end := wordSet.run(s.text, at)
		if end-at < 4 {
			break
		}
		parts, at = parts+1, end
		if at >= len(s.text) || s.text[at] != '.' {
			break
		}
		at++
	}
	if at > i && s.text[at-1] == '.' {
		at--
	}
	if parts < 2 || at-i < 36 {
		return at // what is none is not read again from its middle on
	}
	s.add(Keys, "jwt", i, at)
	return at
}

// pem finds a private key in PEM from its first line to its last, or to the end of the
// text. It returns where to read on.
func (s *scan) pem(i int) int {
	const begin, dashes = "-----BEGIN ", "-----"
	head := s.text[i+len(begin) : min(len(s.text), i+len(begin)+60)]
	end := strings.Index(head, dashes)
	if end < 0 || !strings.Contains(head[:end], "PRIVATE KEY") {
		return i + len(begin)
	}
	body := i + len(begin) + end + len(dashes)
	stop := len(s.text)
	if at := strings.Index(s.text[body:], "-----END "); at >= 0 {
		stop = body + at + len("-----END ")
		if last := strings.Index(s.text[stop:min(len(s.text), stop+60)], dashes); last >= 0 {
			stop += last + len(dashes)
		}
	}
	s.add(Keys, "pem", i, stop)
	return stop
}

// signatures finds the signatures in URLs that give access by themselves.
func (s *scan) signatures() {
	for _, name := range []string{"sig=", "X-Amz-Signature=", "X-Goog-Signature=", "AccountKey=", "SharedAccessKey=",
		"SharedAccessSignature="} {
		for at := 0; ; {
			i := strings.Index(s.text[at:], name)
			if i < 0 {
				break
			}
			from := at + i + len(name)
			end := sigSet.run(s.text, from)
			at = from
			if end-from >= 20 && random(s.text[from:end], 20) && begins(s.text, from-len(name)) {
				s.add(Keys, "signature", from, end)
			}
		}
	}
}

func digitsOnly(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return len(s) > 0
}

func allHex(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return len(s) > 0
}
