package redact

import "strings"

// ibanLengths has the length of the IBANs of each country that has them (the registry of
// ISO 13616, and the countries that use the form without being in it).
var ibanLengths = func() map[string]int {
	out := map[string]int{}
	for _, row := range strings.Fields(`AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24
		DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23
		IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28
		NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23
		TN24 TR26 UA29 VA22 VG24 XK20 YE30 DZ26 AO25 BF28 BJ28 CI28 CM27 CV25 IR26 MA28 MG27 ML28 MZ25 NE28 SN28 TD27
		TG28 KM27 CG27 CF27 GA27 GQ27 GW25`) {
		out[row[:2]] = int(row[2]-'0')*10 + int(row[3]-'0')
	}
	return out
}()

// maxIBAN is the length of the longest IBAN.
const maxIBAN = 34

// iban finds an IBAN at i: a country, two check digits and as many letters and digits as
// the country has, with single separators anywhere, whose remainder by 97 is 1. It
// returns its end, or 0.
func (s *scan) iban(i int) int {
	text := s.text
	if i+15 > len(text) || !isLetter(text[i]) || !isLetter(text[i+1]) {
		return 0
	}
	at := i + 2
	if !isDigit(text[at]) {
		if _, width := separatorAt(text, at); width == 0 || at+width+1 >= len(text) || !isDigit(text[at+width]) {
			return 0
		}
	}
	length := ibanLengths[strings.ToUpper(text[i:i+2])]
	if length == 0 {
		return 0
	}
	var code [maxIBAN]byte
	n := 0
	for at = i; n < length; {
		if at >= len(text) {
			return 0
		}
		if c := text[at]; isAlnum(c) {
			code[n] = c
			n, at = n+1, at+1
			continue
		}
		_, width := separatorAt(text, at)
		if width == 0 {
			return 0
		}
		at += width
	}
	if !isDigit(code[2]) || !isDigit(code[3]) || !ends(text, at) || mod97(code[:length]) != 1 {
		return 0
	}
	return at
}

// mod97 is the remainder of ISO 7064: the first four characters go to the end, and
// letters count as 10 to 35.
func mod97(code []byte) int {
	rest := 0
	for i := range code {
		c := code[(i+4)%len(code)]
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c|0x20-'a') + 10) % 97
		}
	}
	return rest
}
