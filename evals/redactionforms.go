package evals

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// secretForm is how secrets of one form are made up, and which frames they go into. The
// forms are put together of pieces, so that no scanner of repositories takes one for real.
type secretForm struct {
	frames string
	make   func(maker) string
}

// after returns a form of a key: a prefix, and n characters of a set.
func after(prefix, set string, n int) secretForm {
	return secretForm{"keys", func(m maker) string { return prefix + m.of(set, n) }}
}

// luhnDigit is the check digit of a card number.
func luhnDigit(digits string) string {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return fmt.Sprint((10 - sum%10) % 10)
}

// card makes up a card number of n digits in groups.
func card(prefix string, n int, groups ...int) secretForm {
	return secretForm{"cards", func(m maker) string {
		digits := prefix + m.of(digitChars, n-1-len(prefix))
		digits += luhnDigit(digits)
		var out []string
		for _, size := range groups {
			out, digits = append(out, digits[:size]), digits[size:]
		}
		return strings.Join(append(out, digits), " ")
	}}
}

// iban makes up an IBAN: the account has the form that format says, 'n' for a digit and
// 'a' for a letter.
func iban(country, format string, spaced bool) secretForm {
	return secretForm{"ibans", func(m maker) string {
		account := ""
		for _, c := range format {
			set := digitChars
			if c == 'a' {
				set = upperChars
			}
			account += m.of(set, 1)
		}
		rest := 0
		for _, c := range account + country + "00" {
			if c <= '9' {
				rest = (rest*10 + int(c-'0')) % 97
			} else {
				rest = (rest*100 + int(c-'A') + 10) % 97
			}
		}
		out := fmt.Sprintf("%s%02d%s", country, 98-rest, account)
		if !spaced {
			return out
		}
		var groups []string
		for len(out) > 4 {
			groups, out = append(groups, out[:4]), out[4:]
		}
		return strings.Join(append(groups, out), " ")
	}}
}

// fitting makes up digits until the check that was written here for the purpose holds.
func fitting(frames string, n int, first string, ok func(d []int) bool) secretForm {
	return secretForm{frames, func(m maker) string {
		for {
			text := m.of(first, 1) + m.of(digitChars, n-1)
			d := make([]int, n)
			for i := range d {
				d[i] = int(text[i] - '0')
			}
			if ok(d) {
				return text
			}
		}
	}}
}

func dot(d []int, weights ...int) (sum int) {
	for i, w := range weights {
		sum += d[i] * w
	}
	return sum
}

// germanTaxID is the rule of the Steuer-ID: one digit twice or thrice among the first ten.
func germanTaxID(d []int) bool {
	count, product, repeated := [10]int{}, 10, 0
	for _, v := range d[:10] {
		count[v]++
		sum := (v + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	for _, n := range count {
		if n > 3 {
			return false
		}
		if n > 1 {
			repeated++
		}
	}
	return repeated == 1 && (11-product)%10 == d[10]
}

// secretForms are the forms by their names.
func secretForms() map[string]secretForm {
	words := []string{"sommer", "Tiger", "blue", "Kaffee", "luna", "Dragon", "porto", "Gato"}
	password := func(m maker) string {
		return words[m.IntN(len(words))] + []string{"", "_", "#",
			"-"}[m.IntN(4)] + words[m.IntN(len(words))] + m.number(10, 9999) +
			[]string{"", "!", "$x"}[m.IntN(3)]
	}
	jwt := func(m maker) string {
		part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"sub":"`+m.of(digitChars,
			10)+`"}`) + "." + m.of(tokenChars, 43)
	}
	return map[string]secretForm{
		"aws": after("AK"+"IA", upperChars+"234567", 16), "google": after("AI"+"za", tokenChars, 35),
		"github": after("gh"+"p_", alnumChars, 36), "github-pat": after("github_"+"pat_", alnumChars, 82),
		"gitlab": after("gl"+"pat-", alnumChars, 20), "slack": after("xo"+"xb-", digitChars+"-"+alnumChars, 40),
		"stripe": after("sk_"+"live_", alnumChars, 24), "openai": after("sk-"+"proj-", alnumChars, 48),
		"anthropic": after("sk-"+"ant-api03-", tokenChars, 90), "huggingface": after("h"+"f_", alnumChars, 34),
		"npm": after("np"+"m_", alnumChars, 36), "pypi": after("py"+"pi-AgEIcHlwaS5vcmc", tokenChars, 60),
		"twilio": after("S"+"K", hexChars, 32), "digitalocean": after("do"+"p_v1_", hexChars, 64),
		"databricks": after("da"+"pi", hexChars, 32), "shopify": after("shp"+"at_", hexChars, 32),
		"sendgrid": {"keys", func(m maker) string {
			return "S" + "G." + m.of(alnumChars,
				22) + "." + m.of(alnumChars, 43)
		}},
		"telegram": {"keys", func(m maker) string {
			return m.number(100_000_000,
				999_999_999) + ":AA" + m.of(tokenChars, 33)
		}},
		"jwt": {"keys", jwt},
		"url": {"keys", func(m maker) string {
			return "postgres://app:" + m.of(alnumChars, 14) + "@db.example.org:5432/app"
		}},
		"visa": card("4", 16, 4, 4, 4), "visa-plain": card("4", 16), "mastercard": card("52", 16, 4, 4, 4),
		"amex": card("37", 15, 4, 6), "discover": card("6011", 16),
		"iban-de": iban("DE", "nnnnnnnnnnnnnnnnnn", true), "iban-gb": iban("GB", "aaaannnnnnnnnnnnnn", false),
		"iban-fr": iban("FR", "nnnnnnnnnnnnnnnnnnnnnnn", true),
		"ssn": {"ssn", func(m maker) string {
			return m.number(100, 665) + "-" + m.number(10, 99) + "-" + m.number(1000, 9999)
		}},
		"steuer-id": fitting("steuer", 11, "123456789", germanTaxID),
		"pesel": fitting("pesel", 11, "6789", func(d []int) bool {
			return d[2]*10+d[3] <= 12 && d[2]+d[3] > 0 && d[4]*10+d[5] <= 28 && d[4]+d[5] > 0 &&
				(10-dot(d, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3)%10)%10 == d[10]
		}),
		"bsn": fitting("bsn", 9, "123456789", func(d []int) bool {
			return dot(d, 9, 8, 7, 6, 5, 4, 3, 2,
				-1)%11 == 0
		}),
		"cpf": fitting("cpf", 11, "123456789", func(d []int) bool {
			return dot(d, 10, 9, 8, 7, 6, 5, 4, 3, 2)*10%11%10 == d[9] && dot(d, 11, 10, 9, 8, 7, 6, 5, 4, 3,
				2)*10%11%10 == d[10]
		}),
		"dni": {"dni", func(m maker) string {
			n := 10_000_000 + m.IntN(89_999_999)
			return fmt.Sprint(n) + "TRWAGMYFPDXBNJZSQVHLCKE"[n%23:][:1]
		}},
		"password": {"passwords", password},
		"pin":      {"pins", func(m maker) string { return m.number(1000, 9999) }},
	}
}
