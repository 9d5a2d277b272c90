package redact

import "strings"

// How far words say something about a number, in bytes.
const (
	nearBefore = 80
	nearAfter  = 40
)

// near reports whether one of words stands near text[start:end]: before it, or soon
// after it, within the same line. A word of letters stands alone; any other is a part.
func (s *scan) near(start, end int, words []string) bool {
	before := lowerBefore(s.text, start, nearBefore)
	if i := strings.LastIndexByte(before, '\n'); i >= 0 && i < len(before)-40 {
		before = before[i+1:]
	}
	after := lowerAfter(s.text, end, nearAfter)
	if i := strings.IndexByte(after, '\n'); i >= 0 {
		after = after[:i]
	}
	if strings.Contains(before, "[redacted:") {
		for i := range kinds { // the words of marks say nothing
			before = strings.ReplaceAll(before, strings.ToLower(kinds[i].kind.Mark()), "#")
		}
	}
	return hasWord(before, words) || hasWord(after, words)
}

// hasWord reports whether a text in lower case has one of some words. A word that ends in
// '*' may go on.
func hasWord(low string, words []string) bool {
	for _, w := range words {
		w, open := strings.CutSuffix(w, "*")
		for at := 0; ; {
			i := strings.Index(low[at:], w)
			if i < 0 {
				break
			}
			i += at
			at = i + len(w)
			if w[0] >= 0x80 || (i == 0 || !isLetter(low[i-1])) && (open || at >= len(low) || !isLetter(low[at])) {
				return true
			}
		}
	}
	return false
}

var cardWords = []string{"card*", "visa", "mastercard", "amex", "american express", "maestro", "unionpay", "rupay",
	"diners", "discover", "jcb", "karte", "kreditkarte", "karten*", "kreditkarten*", "carte", "tarjeta", "carta",
	"cartão", "cartao", "kart*",
	"credit", "debit", "creditcard", "karta", "karty", "карт*", "カード", "卡", "카드", "बैंक कार्ड", "kort", "kartı",
	"pan"}

// otherWords name numbers that are no secret. One of them right before a number says
// that it is such a number.
var otherWords = set("order", "orders", "tracking", "track", "invoice", "isbn", "imei", "serial", "parcel",
	"shipment",
	"ticket", "transaction", "reference", "ref", "sku", "ean", "upc", "gtin", "asin", "item", "product", "part",
	"model",
	"case", "batch", "lot", "job", "build", "commit", "revision", "version", "timestamp", "epoch", "barcode",
	"waybill",
	"booking", "flight", "coupon", "voucher", "customer", "article", "catalog", "catalogue", "inventory", "request",
	"bestellung", "bestellnummer", "bestellnr", "auftrag", "auftragsnummer", "rechnung", "rechnungsnummer", "sendung",
	"sendungsnummer", "seriennummer", "artikelnummer", "kundennummer", "paket", "paketnummer", "vorgang",
	"vorgangsnummer",
	"commande", "colis", "facture", "suivi", "série", "pedido", "envío", "factura", "seguimiento", "serie",
	"encomenda",
	"fatura", "rastreio", "rastreamento", "ordine", "spedizione", "fattura", "tracciamento", "seriale", "zamówienie",
	"zamówienia", "przesyłka", "przesyłki", "faktura", "faktury", "bestelling", "factuur", "zending", "заказ",
	"заказа",
	"трек", "посылка", "посылки", "счёт", "注文", "注文番号", "追跡番号", "订单", "订单号", "快递", "快递单号", "运单号",
	"meter", "chassis", "vin", "pallet", "container", "dataset", "record", "row", "id", "uuid", "hash", "checksum",
	"run",
	"bibliothek", "library", "issn", "doi", "po", "rma", "sscc", "awb", "message", "msg", "event", "trace", "span")

// fillWords may stand between such a word and its number.
var fillWords = set("number", "no", "nr", "nº", "num", "code", "id", "is", "was", "the", "a", "of", "n", "numero",
	"número",
	"numéro", "nummer", "numer", "номер", "ist", "lautet", "est", "es", "è", "é", "to", "jest", "und", "and",
	"with", "mit",
	"your", "my", "our", "de", "di", "do", "du", "la", "le", "der", "die", "das", "has", "reads", "shows", "for",
	"got")

// otherNumber reports whether the words right before i say that the number at i is one
// of those that are no secret.
func (s *scan) otherNumber(i int) bool {
	before := lowerBefore(s.text, i, 48)
	if at := strings.LastIndexAny(before, "\n.;!?"); at >= 0 && at < len(before)-6 {
		before = before[at+1:]
	}
	words := wordsIn(before)
	for n := 0; n < 5 && len(words) > 0; n++ {
		last := words[len(words)-1]
		if otherWords[last] {
			return true
		}
		if !fillWords[last] {
			return false
		}
		words = words[:len(words)-1]
	}
	return false
}

func set(words ...string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}
