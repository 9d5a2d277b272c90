package analyzer

import "strings"

// stops are the function words (articles, pronouns, auxiliaries, prepositions,
// conjunctions, question words) after fold, with the languages that have each.
// They weigh nothing in a text of their language, and they tell its language.
var stops = collect()

func collect() map[string]languages {
	out := map[string]languages{}
	add := func(l languages, words string) {
		for _, w := range strings.Fields(words) {
			out[fold(w)] |= l
		}
	}
	for l, words := range stopWords {
		add(1<<l, words)
	}
	add(everywhere, scriptStopWords)
	add(ambiguous, ambiguousWords)
	return out
}

var stopWords = [known]string{
	en: `a an the this that these those
	i me my mine myself we us our ours ourselves you your yours yourself yourselves
	he him his himself she her hers herself it its itself they them their theirs themselves
	who whom whose which what where when why how
	am is are was were be been being have has had having do does did doing
	will would shall should can could might must ought
	im ive ill id youre youve youll youd hes shes theyre theyve theyll theyd weve well were wed itll thats whats
	isnt arent wasnt werent havent hasnt hadnt dont doesnt didnt wont wouldnt cant couldnt shouldnt cannot
	and but or nor so if because as until while than then
	of at by for with about against between into through during before after above below to from
	up down in out on off over under again further once here there
	all any both each few more most other some such no not only own same too very just also
	s t d ll m re ve`,
	de: `der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner
	ich du er sie es wir ihr mich dich sich uns euch mir dir ihm ihn ihnen
	mein meine meinen meinem meiner meines dein deine deinen deinem deiner sein seine seinen seinem seiner seines
	ihre ihren ihrem ihrer ihres unser unsere unseren unserem unserer euer eure euren
	wer wen wem wessen was wo wohin woher wann warum wieso weshalb wie welche welcher welches welchen welchem
	bin bist ist sind seid war warst waren gewesen habe hast hat haben habt hatte hatten hattest
	werde wirst wird werden werdet wurde wurden worden kann kannst konnte können könnte muss musst mussten müssen
	will willst wollte wollen soll sollte sollen darf dürfen möchte würde würden
	und oder aber denn sondern dass weil wenn ob als während damit also doch nur auch noch schon sehr so dann da hier
	dort nicht nichts
	in im an am auf aus bei beim bis durch für gegen mit nach ohne seit über um unter von vom vor zu zum zur zwischen
	dieser diese dieses diesen diesem jener jede jeder jedes jeden man etwas alle alles allen`,
	fr: `le la les un une des du de au aux ce cet cette ces ça cela ceci sil sest
	je tu il elle on nous vous ils elles me te t se lui leur leurs moi toi soi eux y en
	mon ma mes ton ta tes son sa ses notre nos votre vos
	qui que quoi dont où quand comment pourquoi combien quel quelle quels quelles
	suis es est sommes êtes sont étais était étions étaient été être serai sera seront serait fut
	ai as a avons avez ont avais avait avions avaient eu avoir aura aurait fait faire
	et ou mais donc car ni si comme puis parce lorsque puisque quoique alors ne pas plus rien jamais aussi très bien
	encore déjà
	à dans par pour sur sous avec sans chez vers entre depuis pendant avant après contre jusque là ici tout tous toute
	toutes même`,
	es: `el la los las lo un una unos unas al del de
	yo tú él ella usted nosotros nosotras vosotros ellos ellas ustedes me te se nos os le les mí ti sí conmigo contigo
	mi mis tu tus su sus nuestro nuestra nuestros nuestras vuestro vuestra
	que qué quién quien quiénes quienes cuál cuáles cual dónde donde adónde cuándo cuando cómo como cuánto cuánta
	cuántos cuántas porqué
	soy eres es somos son era eras éramos eran fui fue fueron sido ser siendo estoy estás está estamos están estaba
	estaban estado estuvo
	he has ha hemos han había habían hay hubo haber tengo tiene tienen tenía
	y e o u ni pero sino porque pues si aunque mientras no ni ya muy más menos también tampoco nunca siempre sólo aquí
	allí ahí así nada algo
	a en con sin por para sobre entre desde hasta hacia contra según durante tras ante bajo
	este esta esto estos estas ese esa eso esos esas aquel aquella todo toda todos todas otro otra otros otras mismo
	misma`,
	pt: `o a os as um uma uns umas ao aos à às do da dos das no na nos nas num numa pelo pela pelos pelas dum duma de
	eu tu ele ela você nós vós eles elas vocês me te se lhe lhes mim ti si comigo contigo
	meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas dele dela deles delas
	que quê quem qual quais onde aonde quando como quanto quanta quantos quantas porquê
	sou és é somos são era eras éramos eram fui foi foram sido ser sendo estou está estás estamos estão estava estavam
	esteve
	tenho tem têm tinha tinham ter tive teve há havia houve vou vai vão
	e ou mas nem porque pois se embora enquanto não já muito mais menos também nunca sempre só aqui ali lá assim nada
	algo ainda
	em com sem por para pra sobre entre desde até contra segundo durante após ante sob
	este esta isto estes estas esse essa isso esses essas aquele aquela aquilo neste nesta nesse nessa naquele todo toda
	todos todas outro outra mesmo mesma`,
	it: `il lo la i gli le l un uno una del dello della dei degli delle dell al allo alla ai agli alle all dal dalla dai
	dalle dall
	nel nello nella nei negli nelle nell sul sullo sulla sui sugli sulle sull col di
	io tu lui lei noi voi loro egli mi ti si ci vi me te se ne
	mio miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri nostre vostro vostra
	che chi cui quale quali dove quando come perché quanto quanta quanti quante cosa
	sono sei è siamo siete ero eri era eravamo erano fu stato stata stati state essere sia sarà sarebbe
	ho hai ha abbiamo avete hanno avevo aveva avevano avere avrà avrebbe sto stai sta stanno fa fare faccio
	e ed o ma anche se mentre però quindi non più meno molto già ancora mai sempre solo qui qua lì là così niente
	qualcosa
	a ad da in con su per tra fra sopra sotto senza dopo prima
	questo questa questi queste quest quello quella quelli quelle quel quell tutto tutta tutti tutte altro altra
	stesso`,
	nl: `de het een der des den te
	ik jij je hij zij ze wij we jullie u mij me jou hem haar ons hen hun zich
	mijn jouw zijn onze uw
	wie wat waar wanneer waarom hoe welke welk
	ben bent is was waren geweest wordt worden werd werden heb hebt heeft hebben had hadden gehad
	kan kun kunnen kon konden moet moeten moest zal zullen zou zouden wil willen wilde mag mogen
	en of maar want dus omdat als dan toen terwijl dat die dit deze niet geen niets nog al ook wel zeer heel hier daar
	er nu zo maar
	aan bij door in met na naar om onder op over tegen tot tussen uit van voor zonder tijdens
	alle alles iets iemand elke ieder andere zelf`,
	sv: `en ett den det de dem dess
	jag du han hon vi ni mig dig sig honom henne oss er
	min mitt mina din ditt dina sin sitt sina vår vårt våra hennes deras
	vem vad var vart när varför hur vilken vilket vilka som
	är var varit vara blir blev bli blivit har hade haft ha kan kunde ska skulle vill ville måste får fick
	och eller men för att om eftersom medan när så då inte inget ingen aldrig också mycket bara här där nu redan än
	av på till från med utan under över efter före mellan genom hos vid mot i
	denna detta dessa alla allt något någon några varje annan andra själv`,
	da: `en et den det de dem
	jeg du han hun vi i mig dig sig ham hende os jer
	min mit mine din dit dine sin sit sine vores deres hendes jeres
	hvem hvad hvor hvornår hvorfor hvordan hvilken hvilket hvilke som
	er var været være bliver blev blive har havde haft have kan kunne skal skulle vil ville må måtte får fik
	og eller men for at om fordi mens når så da ikke intet ingen aldrig også meget kun her der nu allerede end
	af på til fra med uden under over efter før mellem gennem hos ved mod i
	denne dette disse alle alt noget nogen nogle hver anden andre selv`,
	nb: `en ei et den det de dem
	jeg du han hun vi dere meg deg seg ham henne oss
	min mitt mine din ditt dine sin sitt sine vår vårt våre deres hennes
	hvem hva hvor når hvorfor hvordan hvilken hvilket hvilke som
	er var vært være blir ble bli blitt har hadde hatt ha kan kunne skal skulle vil ville må måtte får fikk
	og eller men for å at om fordi mens når så da ikke ingenting ingen aldri også mye bare her der nå allerede enn
	av på til fra med uten under over etter før mellom gjennom hos ved mot i
	denne dette disse alle alt noe noen hver annen andre selv`,
	fi: `minä sinä hän me te he minun sinun hänen meidän teidän heidän minua sinua häntä minulla sinulla hänellä minulle
	sinulle hänelle minut sinut hänet
	se sen sitä siinä siitä ne niitä tämä tämän tätä tässä tästä nämä tuo tuon nuo
	kuka kenen ketä mikä minkä mitä missä mistä mihin milloin miksi miten millainen joka jonka jotka jossa
	olen olet on olemme olette ovat olin olit oli olimme olivat ole ollut olla
	en et ei emme ette eivät ja tai mutta että koska jos kun kuin niin sekä vaan myös vain vielä jo hyvin nyt sitten
	siellä täällä aina
	kanssa ilman ennen jälkeen kaikki joku jokin`,
	hu: `a az egy ez ezt ezek azt azok
	én te ő mi ti ők engem téged őt minket titeket őket nekem neked neki nekünk nekik velem veled vele
	ki kit kinek mit mikor hol hova honnan miért hogyan hogy melyik milyen mennyi hány aki ami amely
	vagyok vagy van vagyunk vagytok vannak volt voltam voltak lesz lenne lett nincs
	és de vagy mert ha mint akkor nem ne sem is már még csak nagyon meg itt ott így úgy most mindig soha pedig
	alatt után előtt között nélkül szerint által minden valami valaki más`,
	ro: `un o unei unui niște cel cea cei cele al ai ale lui
	eu tu el ea noi voi ei ele mă te îl îi ne vă îmi îți își mie ție pe
	meu mea mei mele tău ta tăi tale său sa săi sale nostru noastră
	cine ce care cui unde când cum de câți câte cât
	sunt ești este e suntem sunteți eram era erau fost fi am ai a avem aveți au aveam avea avut va vor voi ar aș
	și sau dar iar însă că dacă fiindcă deoarece să nu mai foarte doar aici acolo acum niciodată deja tot
	în din la cu fără pentru prin peste sub între până după
	acest această acești aceste acesta aceasta acel acea toți toate alt altă`,
	tr: `bir bu şu o bunlar şunlar onlar bunu şunu onu buna ona bunun onun
	ben sen biz siz beni seni bizi sizi bana sana bize size benim senin bizim sizin bende sende
	kim kimin kime ne nerede nereye nereden zaman neden niçin niye nasıl hangi kaç
	mı mi mu mü mıdır midir var yok değil idi ise olan oldu olarak olduğu vardı yoktu
	ve veya ya ama fakat çünkü eğer ki ile için gibi kadar göre sonra önce daha en çok az de da hem her hep hiç şimdi
	şey
	bütün tüm bazı kendi`,
}

// scriptStopWords are function words that occur only in scripts of their own,
// or are shared by related languages: Russian, Greek, Arabic, Hebrew, Hindi,
// and Chinese, Japanese and Korean in the characters and pairs that their text
// is cut into.
const scriptStopWords = `
	и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще
	нет о об из ему теперь
	когда даже ну ли если уже или ни быть был него до вас вам ведь там потом себя ничего ей нее они тут где есть надо
	ней для мы тебя их чем была сам
	чтоб чтобы без будто чего тоже себе под будет тогда кто этот того потому этого какой какая какое какие ним здесь
	этом мой моя мое мои при
	об это эта эти эту нас нам них были кого кому про перед куда зачем почему откуда сколько чей твой твоя твои наш наша
	наши ваш ваша ваши свой своя свои
	ο η το οι τα του της των τον την τους τις ένας μία ένα και ή αλλά αν ότι πως που πού πώς ποιος ποια ποιο τι πότε
	γιατί να θα δεν δε μη μην
	με σε από για προς κατά μετά χωρίς στο στη στην στον στα στις στους εγώ εσύ αυτός αυτή αυτό εμείς εσείς αυτοί μου
	σου μας σας
	είμαι είσαι είναι είμαστε ήταν ήμουν έχω έχεις έχει έχουν είχε
	في من الى إلى على عن مع هذا هذه ذلك تلك هو هي هم انا أنا انت أنت نحن انتم ما ماذا من متى اين أين كيف لماذا هل كم اي
	أي
	الذي التي الذين لا لم لن ليس قد كان كانت يكون كانوا و او أو ثم لكن بل ان أن إن اذا إذا لو حتى كل بعض عند بعد قبل بين
	منذ فيه فيها به بها له لها لي لك منه منها عليه عليها
	את של על עם אל מן אני אתה הוא היא אנחנו אתם אתן הם הן זה זאת זו אלה מה מי איפה מתי איך למה מדוע כמה האם לא כן יש אין
	היה היתה הייתה היו
	או אבל גם רק כי אם אז כמו לי לך לו לה לנו להם שלי שלך שלו שלה שלנו שלהם אותו אותה
	का की के को ने में से पर और या एक यह वह ये वे इस उस इन उन मैं हम तुम आप मुझे हमें तुम्हें आपको उसे उन्हें इसे मेरा
	मेरी मेरे तुम्हारा तुम्हारी आपका आपकी आपके हमारा हमारी उसका उसकी उसके उनका उनकी उनके इसका इसकी अपना अपनी अपने
	है हैं हूँ हो था थी थे थीं होता होती होते हुआ हुई हुए रहा रही रहे गया गई गए क्या कौन कब कहाँ कहां क्यों कैसे कैसा
	कैसी कितना कितनी कितने किस किसने किसका किसकी किसके
	जो कि तो भी ही नहीं न मत लेकिन अगर फिर तक साथ लिए बहुत कुछ सब
	的 了 是 在 我 你 您 他 她 它 们 們 有 不 这 這 那 和 与 與 也 都 就 很 吗 嗎 呢 吧 啊 么 麼 什 谁 誰 哪 个 個 之 而 及 把 被 让 讓 对 對 到 从 從 给 給 着 著 过 過 还 還 没
	沒 会 會 能 要 去 来 來 说 說
	什么 什麼 哪里 哪裡 哪儿 怎么 怎麼 为什 為什 多少 我们 我們 你们 你們 他们 他們 她们 她們 这个 這個 那个 那個 一个 一個 没有 沒有
	は が を に で と も の へ か よ ね な た て です ます まし した でし ませ せん すか いま いる ある する こと これ それ あれ どこ いつ だれ なに から まで ので のに って には とは では にも
	ても ない った んで てい いて
	은 는 이 가 을 를 에 의 도 로 와 과 습니 니다 입니 합니 에서 에게 까지 부터 으로 어디 언제 누구 무엇 어떻 떻게 니까 세요 어요 아요 었어 았어 나요`

// ambiguousWords are function words in one language, and given names or common
// English nouns elsewhere. They are little evidence of a language.
const ambiguousWords = `al ale alla alt ami ante bana bare ben bin car care cel cum d dan del della den des die din dina
	dine door dos dove ed ella elle em end era
	far fare hat hay hem hen hun jos kan kim lei les li ll lo los lui m ma mag mai man mar mas meg men mes met mi mika
	mina mine mint mio mitt
	mon nos nu os ours pana par pe per plus pour qui re s sa sale sana sen sera ses sia sin sob solo son sous sua sub
	sue sur t ta te ton tot
	tout tu tua tue tum van ve vi von want war will ya`
