package redact

// national is the form of the id of one state. The pattern has '9' for a digit, 'A' for a
// letter, 'X' for either and ' ' for a separator that may be left out; any other character
// stands for itself. check says whether such an id can be.
//
// A form that is sure is found wherever it stands, unless the words before it name
// another number. Of one that is not, a word of words must stand near it: many numbers
// have eleven digits, and one in ten has a right check digit.
type national struct {
	form    string
	pattern string
	sure    bool
	check   func(id []byte) bool // without separators, letters in upper case
	words   []string
}

var nationals = []national{
	{"us-ssn", "999-99-9999", true, ssn, ssnWords},
	{"us-ssn", "999 99 9999", false, ssn, ssnWords},
	{"us-ssn", "999-99-9999", false, nil, ssnWords},
	{"us-itin", "999-99-9999", false, itin, []string{"itin", "taxpayer"}},
	{"us-ein", "99-9999999", false, nil, []string{"ein", "employer identification"}},
	{"ca-sin", "999 999 999", false, luhn, []string{"sin", "social insurance", "assurance sociale", "nas"}},
	{"gb-nino", "AA999999A", true, nino, ninoWords},
	{"gb-nino", "AA 99 99 99 A", true, nino, ninoWords},
	{"gb-nino", "AA 99 99 99 A", false, nil, ninoWords}, // also of the examples in forms
	{"gb-nhs", "999 999 9999", false, nhs, []string{"nhs"}},
	{"ie-pps", "9999999AA", false, pps, []string{"pps*"}},
	{"ie-pps", "9999999A", false, pps, []string{"pps*"}},

	{"de-tax", "99 999 999 999", false, germanTax, []string{"steuer*", "idnr", "identifikationsnummer",
		"steueridentifikation*",
		"tax id*", "tax identification", "tin", "tax number", "german tax"}},
	{"de-svnr", "99 999999 A 999", true, germanInsurance, []string{"sozialversicherung*", "rentenversicherung*",
		"svnr", "sv-nummer"}},
	{"de-id", "A99999999", false, nil, germanCardWords},
	{"de-id", "AXXXXXXXX9", false, germanCard, germanCardWords},
	{"at-svnr", "9999 999999", false, austrianInsurance, []string{"sozialversicherung*", "svnr", "sv-nummer",
		"versicherungsnummer",
		"social insurance", "social security", "svnummer"}},
	{"ch-ahv", "756.9999.9999.99", true, ean13, ahvWords},
	{"ch-ahv", "7569999999999", false, ean13, ahvWords},

	{"fr-nir", "9 99 99 XX 999 999 99", true, nir, []string{"sécurité sociale", "securite sociale", "sécu", "nir",
		"insee", "carte vitale", "social security"}},
	{"es-dni", "99999999A", false, dni, dniWords},
	{"es-dni", "99.999.999-A", true, dni, dniWords},
	{"es-dni", "99999999-A", true, dni, dniWords},
	{"es-nie", "A9999999A", true, nie, dniWords},
	{"es-nie", "A-9999999-A", true, nie, dniWords},
	{"it-cf", "AAA AAA 99A99 A999A", true, codiceFiscale, []string{"codice fiscale", "c.f.", "cf", "tax code",
		"fiscal code"}},
	{"it-cf", "AAAAAA99A99A999A", true, codiceFiscale, []string{"codice fiscale", "cf"}},
	{"pt-nif", "999 999 999", false, nif, []string{"nif", "contribuinte", "número fiscal", "numero fiscal",
		"tax number", "portuguese tax"}},
	{"nl-bsn", "9999 99 999", false, bsn, bsnWords},
	{"nl-bsn", "999 999 999", false, bsn, bsnWords},
	{"be-nrn", "99.99.99-999.99", true, belgian, belgianWords},
	{"be-nrn", "99 99 99 999 99", false, belgian, belgianWords},

	{"pl-pesel", "99999999999", false, pesel, []string{"pesel*"}},
	{"cz-rc", "999999/9999", true, czech, []string{"rodné", "rodne", "birth number", "rc", "rč"}},
	{"ro-cnp", "9999999999999", false, romanian, []string{"cnp", "cod numeric personal", "romanian"}},
	{"bg-egn", "9999999999", false, bulgarian, []string{"egn", "егн"}},
	{"gr-afm", "999999999", false, greek, []string{"afm", "αφμ"}},
	{"ee-ik", "99999999999", false, baltic, []string{"isikukood", "asmens kodas", "personal code", "estonian",
		"lithuanian"}},

	{"se-pnr", "999999-9999", true, swedish, nordicWords},
	{"se-pnr", "99999999-9999", true, swedish, nordicWords},
	{"se-pnr", "99999999 9999", false, swedish, nordicWords},
	{"fi-hetu", "999999-999X", true, finnish, nordicWords},
	{"fi-hetu", "999999A999X", true, finnish, nordicWords},
	{"dk-cpr", "999999-9999", false, dayFirst, nordicWords},
	{"dk-cpr", "9999999999", false, dayFirst, []string{"cpr*"}},
	{"no-fnr", "999999 99999", false, norwegian, nordicWords},

	{"br-cpf", "999.999.999-99", true, cpf, []string{"cpf"}},
	{"br-cpf", "99999999999", false, cpf, []string{"cpf"}},
	{"ar-cuit", "99-99999999-9", true, cuit, []string{"cuit", "cuil"}},
	{"cl-rut", "99.999.999-X", true, rut, []string{"rut", "run"}},
	{"cl-rut", "9.999.999-X", true, rut, []string{"rut", "run"}},
	{"cl-rut", "99999999-X", false, rut, []string{"rut", "run"}},
	{"mx-curp", "AAAA999999AAAAAAX9", true, curp, []string{"curp"}},

	{"in-aadhaar", "9999 9999 9999", false, aadhaar, []string{"aadhaar", "aadhar", "adhaar", "uidai", "uid",
		"आधार", "ஆதார்"}},
	{"in-pan", "AAAAA9999A", true, indianPAN, []string{"pan"}},
	{"cn-id", "99999999999999999X", true, chinese, []string{"身份证*", "身份證", "resident id", "id card"}},
	{"kr-rrn", "999999-9999999", true, korean, []string{"주민*", "resident registration"}},
	{"jp-my", "9999 9999 9999", false, japanese, []string{"マイナンバー", "個人番号", "my number"}},
	{"sg-nric", "A9999999A", true, singapore, []string{"nric", "fin"}},
	{"hk-id", "A999999(X)", true, nil, []string{"hkid"}},
	{"tw-id", "A999999999", false, taiwanese, []string{"身分證*", "身份證*", "taiwan", "national id"}},
	{"my-ic", "999999-99-9999", true, monthDay, []string{"mykad", "nric", "ic"}},
	{"th-id", "9-9999-99999-99-9", true, thai, []string{"บัตรประชาชน"}},
	{"th-id", "9999999999999", false, thai, []string{"บัตรประชาชน", "thai id", "thai national", "citizen id"}},
	{"id-nik", "9999999999999999", false, nil, []string{"nik", "ktp"}},
	{"pk-cnic", "99999-9999999-9", true, nil, []string{"cnic", "nadra"}},
	{"tr-tc", "99999999999", false, turkish, []string{"tc kimlik", "t.c. kimlik", "kimlik", "tckn", "tc no"}},
	{"il-tz", "999999999", false, luhn, []string{"teudat", "תעודת זהות", "ת.ז", "israeli id"}},
	{"za-id", "999999 9999 99 9", false, southAfrican, []string{"id number", "south african", "sa id", "rsa id",
		"identity number", "id"}},
	{"au-tfn", "999 999 999", false, tfn, []string{"tfn", "tax file"}},
	{"ru-snils", "999-999-999 99", true, snils, []string{"снилс", "snils"}},
	{"ru-inn", "999999999999", false, inn, []string{"инн", "inn"}},
	{"ru-passport", "9999 999999", false, nil, []string{"паспорт*", "russian passport"}},
	{"ua-tax", "9999999999", false, nil, []string{"рнокпп", "іпн"}},

	{"passport", "AA9999999", false, nil, passportWords},
	{"passport", "AA999999", false, nil, passportWords},
	{"passport", "A99999999", false, nil, passportWords},
	{"passport", "A9999999", false, nil, passportWords},
	{"passport", "A999999", false, nil, passportWords},
	{"passport", "99AA99999", false, nil, passportWords},
	{"passport", "AXXXXXXX9", false, hasDigits, passportWords},
	{"passport", "999999999", false, nil, passportWords},
	{"passport", "99999999", false, nil, passportWords},
}

var (
	ssnWords        = []string{"ssn*", "social security", "social", "seguro social", "taxpayer", "tax id"}
	ninoWords       = []string{"nino", "ni number", "national insurance", "ni no"}
	germanCardWords = []string{"personalausweis*", "ausweis*", "ausweisnummer", "reisepass*", "passnummer",
		"pass-nr", "pass nr"}
	ahvWords = []string{"ahv*", "avs*", "social security", "sozialversicherung*"}
	dniWords = []string{"dni", "nif", "nie", "documento nacional", "documento de identidad", "national id",
		"spanish id", "id"}
	bsnWords = []string{"bsn", "burgerservicenummer", "burger service*", "sofinummer", "sofi-nummer",
		"citizen service"}
	belgianWords = []string{"rijksregister*", "registre national", "national number", "national register",
		"insz", "niss", "nrn"}
	nordicWords = []string{"personnummer", "personnr", "cpr*", "fødselsnummer", "fodselsnummer", "hetu",
		"henkilötunnus",
		"henkilotunnus", "personal number", "personal identity", "national id", "fnr", "samordningsnummer"}
	passportWords = []string{"passport number", "passport no*", "passport is", "passport:", "passport #",
		"my passport",
		"passnummer", "reisepass*", "numéro de passeport", "passeport", "pasaporte", "passaporte", "passaporto",
		"paszport*", "paspoort*", "загранпаспорт*", "护照*", "パスポート番号", "driver's license", "driver license",
		"driving licence", "drivers license", "licence number", "führerschein*", "permiso de conducir",
		"id card number"}
)

// nationalsBy has the rows by what their pattern begins with: a digit, or a letter.
var nationalsBy = func() (by [2][]*national) {
	for i := range nationals {
		letter := 0
		if nationals[i].pattern[0] == 'A' {
			letter = 1
		}
		by[letter] = append(by[letter], &nationals[i])
	}
	return by
}()

// maxNational bounds the characters of an id without separators.
const maxNational = 24

// coded finds what begins at i with letters or digits, an IBAN or a national id, and
// returns its end; 0 if there is nothing of the kind.
func (s *scan) coded(i int) int {
	text := s.text
	if s.r.has(IBANs) && isLetter(text[i]) {
		if end := s.iban(i); end > 0 {
			s.add(IBANs, "mod97", i, end)
			return end
		}
	}
	if !s.r.has(NationalIDs) {
		return 0
	}
	letter := 0
	if isLetter(text[i]) {
		letter = 1
	} else if _, width := digitAt(text, i); width == 0 || decimal(text, i) {
		return 0
	}
	if !enoughDigits(text, i) {
		return 0
	}
	var id [maxNational]byte
	for _, row := range nationalsBy[letter] {
		n, end := row.read(text, i, &id)
		if n == 0 || row.check != nil && !row.check(id[:n]) || repeats(digitsOf(id[:n])) {
			continue
		}
		if s.near(i, end, row.words) || row.sure && !s.otherNumber(i) {
			s.add(NationalIDs, row.form, i, end)
			return end
		}
	}
	return 0
}

// The fewest digits of an id, how many letters may come before the first of them, and
// how many characters an id has with its separators at most.
const (
	fewestDigits = 6
	mostLetters  = 6
	widest       = 32
)

// enoughDigits reports whether there may be an id at i by the number of its digits. Most
// words and numbers have too few.
func enoughDigits(text string, i int) bool {
	digits, letters, separated := 0, 0, false
	for end := min(len(text), i+widest); i < end; i++ {
		c := text[i]
		switch {
		case isDigit(c) || c == 0xef:
			if digits++; digits == fewestDigits {
				return true
			}
			separated = false
		case isLetter(c):
			if letters++; digits == 0 && letters > mostLetters {
				return false
			}
			separated = false
		case separated && c < 0x80:
			return false
		default:
			separated = true
		}
	}
	return false
}

// read reads an id by the pattern at i into id, and returns its length and where it
// ends; 0 if the text does not have the pattern.
func (row *national) read(text string, i int, id *[maxNational]byte) (n, end int) {
	for k := 0; k < len(row.pattern); k++ {
		p := row.pattern[k]
		if p == ' ' {
			if _, width := separatorAt(text, i); width > 0 {
				i += width
			}
			continue
		}
		digit, width := digitAt(text, i)
		switch {
		case width > 0 && (p == '9' || p == 'X' || isDigit(p) && p == digit):
			id[n], n, i = digit, n+1, i+width
		case i < len(text) && isLetter(text[i]) && (p == 'A' || p == 'X'):
			id[n], n, i = text[i]&^0x20, n+1, i+1
		case p == '-':
			sep, width := separatorAt(text, i)
			if sep != '-' {
				return 0, 0
			}
			i += width
		case p < '0' || p == ':':
			if i >= len(text) || text[i] != p {
				return 0, 0
			}
			i++
		default:
			return 0, 0
		}
	}
	if !ends(text, i) {
		return 0, 0
	}
	if _, width := digitAt(text, i); width > 0 {
		return 0, 0
	}
	if sep, width := separatorAt(text, i); sep == '-' || sep == '.' { // it goes on
		if _, more := digitAt(text, i+width); more > 0 {
			return 0, 0
		}
	}
	return n, i
}

// digitsOf are the digits of an id.
func digitsOf(id []byte) []byte {
	out := make([]byte, 0, maxNational)
	for _, c := range id {
		if isDigit(c) {
			out = append(out, c)
		}
	}
	return out
}
