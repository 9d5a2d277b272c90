package redact

import "strings"

// The checks of national ids, as their states publish them. Each gets an id without
// separators, with letters in upper case.

func num(id []byte) (v int) {
	for _, c := range id {
		if isDigit(c) {
			v = v*10 + int(c-'0')
		}
	}
	return v
}

// weighted is the sum of digits by weights.
func weighted(id []byte, weights ...int) (sum int) {
	for i, w := range weights {
		sum += int(id[i]-'0') * w
	}
	return sum
}

// day reports whether two numbers are a month and a day of it.
func day(month, of int) bool { return month >= 1 && month <= 12 && of >= 1 && of <= 31 }

func hasDigits(id []byte) bool { return len(digitsOf(id)) >= 4 }

// ssn is the rule of the Social Security Administration: no area 000, 666 or 900 on, and
// no group or serial number of zeros. The numbers of advertisements are not given out.
func ssn(id []byte) bool {
	area := num(id[:3])
	return area > 0 && area != 666 && area < 900 && num(id[3:5]) > 0 && num(id[5:]) > 0
}

func itin(id []byte) bool { return id[0] == '9' && num(id[3:5]) >= 50 }

func nino(id []byte) bool {
	if strings.IndexByte("DFIQUV", id[0]) >= 0 || strings.IndexByte("DFIQUVO", id[1]) >= 0 || id[8] < 'A' ||
		id[8] > 'D' {
		return false
	}
	switch string(id[:2]) {
	case "BG", "GB", "KN", "NK", "NT", "TN", "ZZ":
		return false
	}
	return true
}

func nhs(id []byte) bool {
	check := 11 - weighted(id, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11
	return check != 10 && check%11 == int(id[9]-'0')
}

func pps(id []byte) bool {
	sum := weighted(id, 8, 7, 6, 5, 4, 3, 2)
	if len(id) == 9 && id[8] != 'W' {
		sum += int(id[8]-'A'+1) * 9
	}
	return "WABCDEFGHIJKLMNOPQRSTUV"[sum%23] == id[7]
}

// germanTax is ISO 7064, MOD 11,10. One digit of the first ten occurs two or three
// times, the others once at most.
func germanTax(id []byte) bool {
	if id[0] == '0' {
		return false
	}
	product := 10
	var count [10]int
	for _, c := range id[:10] {
		count[c-'0']++
		sum := (int(c-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	repeated := 0
	for _, n := range count {
		if n > 3 {
			return false
		}
		if n > 1 {
			repeated++
		}
	}
	return repeated == 1 && (11-product)%10 == int(id[10]-'0')
}

func germanInsurance(id []byte) bool {
	sum := 0
	letter := int(id[8]-'A') + 1
	digits := append([]byte{}, id[:8]...)
	digits = append(digits, byte('0'+letter/10), byte('0'+letter%10), id[9], id[10])
	for i, w := range []int{2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1} {
		p := int(digits[i]-'0') * w
		sum += p/10 + p%10
	}
	return sum%10 == int(id[11]-'0')
}

// germanCard is the check of machine-readable documents (ICAO 9303) by 7, 3, 1. Serial
// numbers have a letter or digit of a small alphabet at each place.
func germanCard(id []byte) bool {
	sum := 0
	for i, c := range id[:9] {
		v := int(c - '0')
		if !isDigit(c) {
			v = int(c-'A') + 10
		}
		sum += v * []int{7, 3, 1}[i%3]
	}
	return sum%10 == int(id[9]-'0')
}

func austrianInsurance(id []byte) bool {
	sum := weighted(id[:3], 3, 7, 9) + weighted(id[4:], 5, 8, 4, 2, 1, 6)
	return sum%11 == int(id[3]-'0')
}

func ean13(id []byte) bool {
	return (10-weighted(id, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3)%10)%10 == int(id[12]-'0')
}

// nir is a number of INSEE: sex, year, month, department, commune, order, and 97 less
// the remainder. Corsica's departments are 2A and 2B.
func nir(id []byte) bool {
	month := num(id[3:5])
	if id[0] != '1' && id[0] != '2' || month == 0 || month > 12 && month < 20 || month > 42 && month < 50 {
		return false
	}
	department, less := id[5:7], 0
	switch {
	case string(department) == "2A":
		less = 1_000_000
	case string(department) == "2B":
		less = 2_000_000
	case !isDigit(department[0]) || !isDigit(department[1]):
		return false
	}
	v := 0
	for i, c := range id[:13] {
		if i == 6 && !isDigit(c) {
			c = '0'
		}
		v = v*10 + int(c-'0')
	}
	return 97-(v-less)%97 == num(id[13:])
}

const dniLetters = "TRWAGMYFPDXBNJZSQVHLCKE"

func dni(id []byte) bool { return dniLetters[num(id[:8])%23] == id[8] }

func nie(id []byte) bool {
	first := strings.IndexByte("XYZ", id[0])
	return first >= 0 && dniLetters[(first*10_000_000+num(id[1:8]))%23] == id[8]
}

// codiceFiscale checks the last letter, by the values of letters at odd places.
func codiceFiscale(id []byte) bool {
	odd := [...]int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}
	sum := 0
	for i, c := range id[:15] {
		v := int(c - 'A')
		if isDigit(c) {
			v = int(c - '0')
		}
		if i%2 == 0 {
			v = odd[v]
		}
		sum += v
	}
	return strings.IndexByte("ABCDEHLMPRST", id[8]) >= 0 && byte('A'+sum%26) == id[15]
}

func eleven(id []byte, weights ...int) int {
	check := 11 - weighted(id, weights...)%11
	if check >= 10 {
		return 0
	}
	return check
}

func nif(id []byte) bool {
	return id[0] != '0' && eleven(id, 9, 8, 7, 6, 5, 4, 3, 2) == int(id[8]-'0')
}

func bsn(id []byte) bool {
	return num(id) > 0 && weighted(id, 9, 8, 7, 6, 5, 4, 3, 2, -1)%11 == 0
}

func belgian(id []byte) bool {
	month, of := num(id[2:4])%20, num(id[4:6])
	check := num(id[9:])
	return day(month, of) && (97-num(id[:9])%97 == check || 97-(2_000_000_000+num(id[:9]))%97 == check)
}

func pesel(id []byte) bool {
	return day(num(id[2:4])%20, num(id[4:6])) &&
		(10-weighted(id, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3)%10)%10 == int(id[10]-'0')
}

func czech(id []byte) bool {
	month := num(id[2:4]) % 50
	return day(month%20, num(id[4:6])) && (num(id)%11 == 0 || num(id[:9])%11 == 10 && id[9] == '0')
}

func romanian(id []byte) bool {
	check := weighted(id, 2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9) % 11
	return id[0] > '0' && day(num(id[3:5]), num(id[5:7])) && check%10+check/10 == int(id[12]-'0')
}

func bulgarian(id []byte) bool {
	return day(num(id[2:4])%20, num(id[4:6])) &&
		weighted(id, 2, 4, 8, 5, 10, 9, 7, 3, 6)%11%10 == int(id[9]-'0')
}

func greek(id []byte) bool {
	return weighted(id, 256, 128, 64, 32, 16, 8, 4, 2)%11%10 == int(id[8]-'0')
}

func baltic(id []byte) bool {
	check := weighted(id, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1) % 11
	if check == 10 {
		check = weighted(id, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3) % 11 % 10
	}
	return id[0] > '0' && day(num(id[3:5]), num(id[5:7])) && check == int(id[10]-'0')
}

func swedish(id []byte) bool {
	id = id[len(id)-10:]
	of := num(id[4:6])
	if of > 60 { // of somebody who is not registered
		of -= 60
	}
	return day(num(id[2:4]), of) && luhn(id)
}

func finnish(id []byte) bool {
	serial := id[len(id)-4:]
	if len(id) == 11 && strings.IndexByte("ABCDEFYXWVU", id[6]) < 0 || !day(num(id[2:4]), num(id[:2])) {
		return false
	}
	for _, c := range append(id[:6:6], serial[:3]...) {
		if !isDigit(c) {
			return false
		}
	}
	return "0123456789ABCDEFHJKLMNPRSTUVWXY"[(num(id[:6])*1000+num(serial[:3]))%31] == serial[3]
}

// dayFirst is Denmark's: since 2007 numbers without a check digit are given out.
func dayFirst(id []byte) bool { return day(num(id[2:4]), num(id[:2])) }

func norwegian(id []byte) bool {
	if !day(num(id[2:4])%40, num(id[:2])%40) {
		return false
	}
	first := weighted(id, 3, 7, 6, 1, 8, 9, 4, 5, 2, 1) % 11
	second := weighted(id, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1) % 11
	return first == 0 && second == 0
}

func cpf(id []byte) bool {
	return eleven(id, 10, 9, 8, 7, 6, 5, 4, 3, 2) == int(id[9]-'0') &&
		eleven(id, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2) == int(id[10]-'0')
}

func cuit(id []byte) bool {
	return (id[0] == '2' || id[0] == '3') && (11-weighted(id, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)%11)%11 == int(id[10]-'0')
}

func rut(id []byte) bool {
	sum := 0
	for i := range len(id) - 1 {
		sum += int(id[len(id)-2-i]-'0') * (2 + i%6)
	}
	return "0123456789K"[(11-sum%11)%11] == id[len(id)-1]
}

func curp(id []byte) bool {
	return day(num(id[6:8]), num(id[8:10])) && (id[10] == 'H' || id[10] == 'M' || id[10] == 'X') && isDigit(id[17])
}

// aadhaar is Verhoeff's check: the multiplication of the dihedral group of order ten.
func aadhaar(id []byte) bool {
	if id[0] < '2' {
		return false
	}
	multiply := func(a, b int) int {
		switch {
		case a < 5 && b < 5:
			return (a + b) % 5
		case a < 5:
			return (a+b)%5 + 5
		case b < 5:
			return (a-b+5)%5 + 5
		default:
			return (a - b + 5) % 5
		}
	}
	permutation := [...]int{1, 5, 7, 6, 2, 8, 3, 0, 9, 4}
	c := 0
	for i := range id {
		d := int(id[len(id)-1-i] - '0')
		for range i % 8 {
			d = permutation[d]
		}
		c = multiply(c, d)
	}
	return c == 0
}

// indianPAN has the type of its holder as the fourth letter.
func indianPAN(id []byte) bool { return strings.IndexByte("ABCFGHJLPT", id[3]) >= 0 }

func chinese(id []byte) bool {
	year := num(id[6:10])
	sum := weighted(id, 7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
	return year >= 1880 && year < 2100 && day(num(id[10:12]), num(id[12:14])) && "10X98765432"[sum%11] == id[17]
}

// korean has no right check digit since 2020: the date and the century must do.
func korean(id []byte) bool { return day(num(id[2:4]), num(id[4:6])) && id[6] >= '0' }

func japanese(id []byte) bool {
	rest := weighted(id, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2) % 11
	if rest < 2 {
		rest = 11
	}
	return 11-rest == int(id[11]-'0')
}

func singapore(id []byte) bool {
	sum := weighted(id[1:], 2, 7, 6, 5, 4, 3, 2)
	switch id[0] {
	case 'S':
		return "JZIHGFEDCBA"[sum%11] == id[8]
	case 'T':
		return "JZIHGFEDCBA"[(sum+4)%11] == id[8]
	case 'F':
		return "XWUTRQPNMLK"[sum%11] == id[8]
	case 'G':
		return "XWUTRQPNMLK"[(sum+4)%11] == id[8]
	case 'M':
		return "KLJNPQRTUWX"[(sum+3)%11] == id[8]
	}
	return false
}

func taiwanese(id []byte) bool {
	v := 10 + strings.IndexByte("ABCDEFGHJKLMNPQRSTUVXYWZIO", id[0])
	return (v/10+v%10*9+weighted(id[1:], 8, 7, 6, 5, 4, 3, 2, 1, 1))%10 == 0
}

func monthDay(id []byte) bool { return day(num(id[2:4]), num(id[4:6])) }

func thai(id []byte) bool {
	return (11-weighted(id, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11)%10 == int(id[12]-'0')
}

func turkish(id []byte) bool {
	odd, even := weighted(id, 1, 0, 1, 0, 1, 0, 1, 0, 1), weighted(id, 0, 1, 0, 1, 0, 1, 0, 1, 0)
	tenth := (odd*7 - even + 100) % 10
	return id[0] > '0' && tenth == int(id[9]-'0') && (odd+even+tenth)%10 == int(id[10]-'0')
}

func southAfrican(id []byte) bool {
	return day(num(id[2:4]), num(id[4:6])) && id[10] <= '2' && luhn(id)
}

func tfn(id []byte) bool { return num(id) > 0 && weighted(id, 1, 4, 3, 7, 5, 8, 6, 9, 10)%11 == 0 }

func snils(id []byte) bool {
	return weighted(id, 9, 8, 7, 6, 5, 4, 3, 2, 1)%101%100 == num(id[9:])
}

func inn(id []byte) bool {
	return weighted(id, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)%11%10 == int(id[10]-'0') &&
		weighted(id, 3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)%11%10 == int(id[11]-'0')
}
