package canonical

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/keys.txt; see TestKeysOfFacts")

// keysOf lists what a fact, or a turn with the same text, is stored under: a sign
// and the text that is hashed behind it.
func keysOf(fact string) []string {
	f := Of(fact)
	out := []string{textSign + " " + f.Text}
	for _, c := range f.Claims {
		out = append(out, attributeSign+" "+c.Attribute)
	}
	if f.Ends != "" {
		out = append(out, endsSign+" "+f.Ends)
	}
	for _, w := range Wishes(fact) {
		if w.Statement != "" {
			out = append(out, forgetSign+" "+w.Statement)
		}
	}
	return out
}

// rulesDigest is a digest of the words in the tables and of the examples of all
// rules. It changes with a new rule or word, which gives other keys to facts that
// testdata/keys.txt may not have.
func rulesDigest() string {
	examples := attributeExamples()
	for _, rule := range slices.Concat(intensifiers, functionWords) {
		examples = append(examples, rule.words+": "+rule.example)
	}
	for _, rule := range endRules {
		examples = append(examples, rule.example)
	}
	h := sha256.New()
	for line := range strings.Lines(tablesText + framesText + ordersText + townsText) {
		if !strings.HasPrefix(line, "#") {
			examples = append(examples, strings.Join(strings.Fields(line), " "))
		}
	}
	fmt.Fprintf(h, "%q", examples)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Stores keep the keys of facts. If the keys of a fact in testdata/keys.txt
// change, or the rules and word tables that make them, stored facts may no longer
// match new ones: change Version, so that a store can tell, and run the test with
// -update. Facts may be added to the file without their keys; -update fills those
// in, and needs no other Version.
func TestKeysOfFacts(t *testing.T) {
	file := filepath.Join("testdata", "keys.txt")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	paragraphs := strings.Split(strings.TrimSpace(string(raw)), "\n\n")
	header := "version " + Version + "\nrules " + rulesDigest()
	sameVersion := strings.HasPrefix(paragraphs[0], "version "+Version+"\n")
	out := []string{header}
	var changed []string
	for _, paragraph := range paragraphs[1:] {
		recorded := strings.Split(paragraph, "\n")
		fact := recorded[0]
		keys := keysOf(fact)
		out = append(out, strings.Join(append([]string{fact}, keys...), "\n"))
		if len(recorded) > 1 && !slices.Equal(recorded[1:], keys) {
			changed = append(changed, fact)
			t.Logf("%q (-recorded +now):\n%s", fact, cmp.Diff(recorded[1:], keys))
		}
	}
	switch text := strings.Join(out, "\n\n") + "\n"; {
	case paragraphs[0] != header && sameVersion:
		t.Errorf("A rule or a word of tables.txt has changed. Facts stored under %s that it reads would miss "+
			"duplicates and contradictions, even if no fact in %s has other keys. "+
			"So change canonical.Version, and then run this test with -update.", Version, file)
	case len(changed) > 0 && sameVersion:
		t.Errorf("The keys of %d facts have changed. Facts stored under %s would miss duplicates and contradictions, "+
			"so change canonical.Version, and then run this test with -update. "+
			"Stores that were written before need `memoryd reembed`.", len(changed), Version)
	case !*update && text != string(raw):
		t.Errorf("%s is out of date; run this test with -update", file)
	case *update:
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The hash of a key is part of what stores keep.
func TestKeys(t *testing.T) {
	ends, home := Of("I no longer eat meat"), Of("I live in Porto")
	const noMeat, meat, lives = "no longer i eat meat", "i eat meat", "i live in porto"
	for name, c := range map[string]struct{ got, want []string }{
		"the hash": {[]string{TextKey(lives)}, []string{"=75f4853b88075819f71b92c78f68aac0"}},
		"an end": {ends.Keys(), []string{
			key("%", "meat"), key("=", noMeat), key("@", "activity eat meat"), key("@", "diet"),
			key("@", "habit eat meat"), key("@", "habit of meat"),
			key("^", "meat"), key("~", meat),
		}},
		"an attribute": {home.Keys(), []string{key("=", lives), key("@", "home"), key("@", "value porto"),
			key("^", "porto")}},
		"a request":  {TurnKeys("Hello. Please forget that I eat meat."), []string{ForgetKey(meat)}},
		"no request": {TurnKeys("I eat meat."), nil},
		"looked up":  {ends.LookupKeys(), append(ends.RelatedKeys(), key("!", noMeat))},
		"a subject":  {TurnKeys("Forget my job. Forget all my data."), []string{key("!", "")}},
		"near a value": {home.RelatedKeys(), []string{key("=", lives), key("@", "home"), key("@", "value porto"),
			key("%", "porto"), key("~", lives)}},
		"near an end": {ends.RelatedKeys(), append(ends.Keys(), key("~", noMeat), key("=", meat))},
	} {
		slices.Sort(c.want)
		if diff := cmp.Diff(c.want, slices.Sorted(slices.Values(c.got))); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", name, diff)
		}
	}
}
