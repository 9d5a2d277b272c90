package extract

import "strings"

// The words the rules go by, in the spelling that splitWords gives.

var (
	// empty words say nothing alone; judgements of taste count among them, or
	// "It was so great" would have content.
	empty = words(`a an the this that these those it its itself i me my mine myself we us our ours ourselves you your yours yourself he him his she her hers they them their theirs
		one ones thing things stuff something anything everything nothing someone anyone everyone somebody anybody everybody some any all both each every much many more most less few little lot lots bit tad
		am is are was were be been being do does did done doing have has had having will would shall should can could may might must get got getting go going gone went make made making take took
		and or but so if then than as of at by for from in into on onto to with without about over under up down out off through again back around between before after since until while because
		not no yes yeah too also just only even still already yet ever never always often sometimes really very quite pretty actually definitely totally absolutely probably maybe perhaps almost exactly
		there here where when who what which how why now today tonight yesterday tomorrow soon later time times day days week weeks month months year years morning afternoon evening night weekend ago last next past
		such same other another else way ways sort kind well like please thanks thank ok okay sure of course know think see say said tell told try tried trying want wanted need needed let lets
		new own sure able idea ideas question questions point case fact part end side place moment while far long`,
		judgements)
	judgements = `good great nice awesome amazing cool fun fine bad better best worse worst perfect wonderful lovely fantastic incredible excellent beautiful brilliant terrible horrible awful crazy
		funny sad happy glad excited exciting interesting important special favorite super okay alright right wrong true real hard tough easy difficult big huge busy tired weird strange inspiring inspired positive determined motivated hopeful focused strong together everywhere anywhere bunch ton tons dream dreams
		rewarding cute sweet helpful useful relaxing blast loved love enjoyable joy pleasure honor blessing experience impressive proud worth delicious yummy tasty`
	evaluative = words(judgements)

	adverbs = words(`also just really actually usually always often sometimes never still already currently recently finally now only even both all too probably definitely generally mostly mainly normally
		rarely seldom hardly absolutely totally truly honestly personally simply especially particularly originally once then not typically regularly occasionally almost basically kinda sorta
		literally obviously certainly each lately nowadays today first barely ever kind sort of yesterday tonight either mainly fully quickly eventually initially previously soon later ever`)
	degree = words("so very really quite pretty extremely super just also still now currently not only all actually kinda rather fairly big huge massive total real true avid lifelong long-time longtime newly recently happily proudly already turning almost nearly about over strictly mostly mainly severely highly mildly deathly clinically legally officially finally both originally half part-time full-time")

	auxiliaries = words("am is are was were has have had will would can could does did do should might may must")
	// deictic words point at what only the conversation shows.
	deictic = words(`it that this these those them you your yours him his her their he she they how when what where why there here who whatever everything anything something nothing one ones so such too each
		way idea sound look fact first second same others another`)
	articles     = words("a an the my")
	pronouns     = words("it that this these those them him her one ones")
	vague        = words("way idea sound sounds look looks fact first second third same one ones vibe vibes feel concept photo picture pic colors color colours thought part rest other latter former best")
	prepositions = words("in on at after before during since for from as with by until of to about around near over through without between like despite outside inside under within")
	// clauseOpeners begin a clause that has a subject of its own.
	clauseOpeners = words("when while after before since because as although though until once")
	openers       = words(`in on at after before during since for from as with by until around over within last next this every each yesterday today tonight tomorrow nowadays currently
		recently lately usually normally often sometimes once now right when while because although though whenever monday tuesday wednesday thursday friday saturday sunday originally
		earlier later early late back besides outside personally generally typically mostly here unfortunately professionally eventually
		mondays tuesdays wednesdays thursdays fridays saturdays sundays mornings weekends occasionally rarely never`)
	seasons       = words("spring summer autumn fall winter christmas easter semester quarter term time day few two three couple holiday vacation once")
	periodLeads   = words("the one some most these those other many")
	quantifiers   = words("both all most some one two three half")
	callers       = words("people everyone everybody friends they family colleagues mates mom dad folks wife husband kids")
	questionWords = words("what why how when where who whom whose which is are do does did can could would will should shall may has was were am")
	elidedAdverbs = words("just finally recently also already")
	reach         = phraseTable("you can reach me", "you can contact me", "you can call me at", "you can find me", "you can email me")
	born          = phraseTable("born in", "born and raised", "born on", "originally from", "raised in", "grew up in", "the name is")
	hypothetical  = phraseTable("if i were", "if we were", "if i was", "if i had", "if i could", "i would have", "let us say", "imagine i", "suppose i", "as if", "i wish", "pretend i", "assume i", "say i am",
		"hypothetically", "i could not agree", "i will try", "i am sorry")

	states = words(`vegan vegetarian pescatarian married single divorced widowed engaged separated pregnant retired unemployed self-employed freelance diabetic asthmatic epileptic autistic dyslexic deaf blind
		colorblind color-blind colourblind colour-blind left-handed right-handed ambidextrous bilingual trilingual celiac coeliac lactose lactose-intolerant gluten-free gluten-intolerant kosher halal teetotal
		gay lesbian bisexual colour color trans transgender nonbinary non-binary queer straight christian catholic muslim jewish hindu buddhist atheist agnostic introverted extroverted
		german french british american canadian australian italian spanish polish dutch swedish norwegian danish finnish russian ukrainian indian chinese japanese korean brazilian mexican irish
		scottish welsh english turkish greek portuguese swiss austrian belgian czech hungarian romanian egyptian nigerian kenyan ghanaian vietnamese thai indonesian filipino pakistani iranian israeli argentinian
		colombian chilean peruvian bald nearsighted short-sighted nightblind insulin-dependent sober`)
	fears    = words("afraid scared terrified")
	regimens = words("diet medication meds insulin antibiotics statins antidepressants sabbatical maternity paternity parental pill dialysis")
	sought   = words("job work apartment flat house home roommate flatmate therapist internship partner school kindergarten")
	regular  = words("every daily weekly twice")
	// secret things are kept only when asked to be remembered: a fact goes into
	// every prompt that looks related.
	secret = phraseTable("password", "passwords", "passphrase", "passcode", "my pin", "pin code", "pin is", "cvv", "credit card number", "card number", "social security number", "ssn",
		"api key", "secret key", "access token", "private key", "seed phrase", "recovery phrase")
	ageUnits = words("years year yrs yo year-old years-old now and this next in today tomorrow soon old")
	numbers  = words(`sixteen seventeen eighteen nineteen twenty twenty-one twenty-two twenty-three twenty-four twenty-five twenty-six twenty-seven twenty-eight twenty-nine thirty thirty-one thirty-two thirty-three
		thirty-four thirty-five thirty-six thirty-seven thirty-eight thirty-nine forty forty-one forty-two forty-three forty-four forty-five forty-six forty-seven forty-eight forty-nine fifty sixty seventy eighty ninety`)
	tastes = words("into fond keen obsessed passionate addicted hooked interested crazy partial allergic")
	// fated is what happens to people.
	fated = words(`hired promoted fired laid accepted admitted elected invited offered raised robbed injured selected awarded hospitalized hospitalised born diagnosed adopted nominated enrolled
		registered scheduled booked stationed transferred vaccinated employed trained certified qualified licensed responsible used engaged married`)
	uncertain = words(`sure certain glad sorry wondering fine good well ok okay curious happy confused aware unsure guessing asking kidding joking hoping saying talking telling here back done
		ready stuck able willing impressed shocked surprised amazed thrilled right wrong listening assuming supposed convinced grateful thankful honored lucky blessed there that it you`)
	moods = words(`excited thrilled pleased delighted worried concerned confused impressed inspired interested tired exhausted bored stressed motivated touched overwhelmed relieved surprised amazed shocked
		fascinated blown moved annoyed frustrated disappointed determined stoked pumped psyched hyped encouraged scared amazing interesting boring exciting inspiring willing relaxing dying`)
	transient = words("home work hurry rush middle luck doubt awe shock trouble need hold track time")
	junkHeads = words("bit little lot tad while mess wreck loss fool idiot dream person human fan lover believer moment challenge blast pleasure hurry rush way few couple good great big huge problem reason number kind sort type total type complete sucker joke different")

	blockedIng = words(`wondering asking hoping telling saying talking guessing assuming kidding joking referring willing sending attaching pasting facing experiencing receiving encountering
		interesting amazing exciting boring inspiring debugging sure implying suggesting pointing cheering rooting wishing thinking loving appreciating digging dying counting rambling`)
	appointed = words("seeing having taking coming going giving leaving starting")
	weakIng   = words("staying trying looking getting doing feeling using having making taking starting keeping being giving putting finding coming going seeing enjoying checking running waiting leaving writing reading watching")

	junkNouns = words(`question point bad apologies apology fault mistake guess goodness god pleasure error problem issue understanding input request message prompt text file script query turn advice heart best
		thoughts mind word gosh bet condolences opinion impression code function app program terminal output query prompt essay draft document data table spreadsheet day weekend hat eyes jaw mood view
		dear friend own first next last thanks hope gratitude`)
	// ownNouns are persons, pets and traits; what is said of them is personal.
	ownNouns = words(`name names nickname surname age birthday birth birthdate anniversary address phone number email e-mail job profession occupation employer career boss company wife husband spouse partner fiancé fiancée fiance fiancee
		girlfriend boyfriend gf bf ex mom mother mum mama dad father papa parent parents brother brothers sister sisters sibling siblings twin twins son sons daughter daughters kid kids child children baby toddler
		grandma grandmother grandpa grandfather grandparents granddaughter grandson grandchildren grandkids nephew niece cousin cousins aunt uncle family in-laws mother-in-law father-in-law roommate roommates flatmate
		dog dogs cat cats puppy puppies kitten kittens parrot rabbit hamster horse horses pet pets tortoise turtle turtles goldfish guinea
		allergy allergies asthma diabetes migraine migraines condition diagnosis adhd autism epilepsy arthritis depression anxiety intolerance disability pronouns hometown nationality religion height weight blood
		degree phd master's bachelor's hobby hobbies`)
	notOwned = words(`question questions idea ideas feeling problem problems issue issues doubt doubts error errors request look clue hunch point choice trouble faith hope luck bug bugs task assignment homework
		say said read seen heard noticed bet thoughts feedback suggestion suggestions nothing anything everything access plan plans back story stories fun power news`)
	fleeting = words("time blast fun day moment laugh chat conversation week weekend talk night ball experience")

	// taskWords are of the work agents do; what is said in their company is
	// about that work and of no use later.
	taskWords = words(`error errors exception bug bugs code function functions file files script scripts server servers log logs compile compiler stacktrace traceback api endpoint config query queries
		prompt prompts csv json xml yaml html css sql regex docker kubernetes container repo commit paragraph paragraphs sentence sentences essay variable variables method methods array database dependency dependencies install installed deploy deployed output input terminal spreadsheet summary summarize summarise translate translation template snippet pdf loop
		command commands module parameter parameters typo typos worksheet answer attachment screenshot chatgpt gpt llm chatbot bot`)
	pasteVerbs = words(`summarize summarise summary translate translation rewrite rephrase proofread edit correct improve shorten paraphrase analyze analyse explain review polish fix reply respond write draft
		convert classify extract continue complete format check grade simplify critique answer repeat following quote`)
	taskHabits = words("use write read run build develop design try see find start keep")

	// blocked verbs speak of thinking, speaking and asking.
	blocked = words(`think guess see agree understand know mean hope wonder bet believe suppose doubt appreciate thank wish hear feel imagine ask assume recommend suggest apologise apologize forgive promise
		swear remember recall forget notice realise realize figure check look say tell mention admit note disagree concur respect get got mind care try let keep seem sound expect trust beg reckon gather
		send attach paste follow copy upload fix help click type repeat clarify explain talk consider support`)
	blockedPast = words(`thought knew meant said told asked guessed wondered hoped felt heard noticed forgot wanted needed agreed appreciated figured assumed expected supposed imagined believed checked looked pasted
		attached copied uploaded installed mentioned realized realised understood seen seemed sounded clicked typed wished remembered recalled shared thanked suggested recommended talked spoke
		laughed smiled cried replied answered did been let googled searched deployed compiled debugged refactored fixed cared admitted`)
	weakPast  = words("got saw made took gave put found tried came kept had brought left used did felt showed turned ended held set let called spent looked helped read")
	decided   = words("graduated retired divorced proposed resigned remarried")
	likedPast = words("loved liked enjoyed hated preferred disliked adored")
	likings   = words("love loves like likes prefer prefers hate hates enjoy enjoys adore adores dislike dislikes loathe detest despise favor favour crave avoid")
	goals     = words(`become learn move visit travel study start buy build open marry retire lose run live work quit improve publish adopt pursue earn finish graduate apply join sell renovate paint
		write attend fly drive hike climb celebrate propose emigrate relocate train volunteer teach compete register enroll enrol cook bake rent swim have get be go spend save stay take host`)
	weakGoals = words("have get be go take start work write build run save stay spend finish")

	present = words(`live work study teach play own run drive ride commute cook bake eat drink smoke read write paint draw sing dance swim hike climb jog cycle bike travel volunteer practise practice collect
		take wear use sleep wake keep grow raise manage lead attend major coach share rent belong suffer weigh come earn identify celebrate visit spend walk develop design sell program miss avoid tend crave
		value dream fly graduate retire marry leave return arrive start begin finish move turn watch listen train exercise meditate garden fish hunt knit sew speak go make give meet suck struggle
		compete perform host foster breed ski surf skate run box lift row sail skateboard snowboard babysit stream blog podcast code tutor freelance want plan`)
	pastToo = words("read") // the same letters in both tenses: read as past
	habits  = words("smoke drink drive cook swim vape snore gamble fly dance")
	skills  = words("speak play cook swim drive read code program dance ski sing knit sew draw juggle walk hear ride fly")

	underway = words("going planning moving working studying learning training living flying travelling traveling starting getting heading leaving visiting")
	// events, without a subject, are the speaker's own.
	events = words(`went moved adopted bought got started finished quit joined visited met broke lost found sold graduated married divorced booked signed landed passed ran won retired celebrated returned came
		attended completed planted painted baked cooked made watched spent took had hiked signed enrolled registered accepted`)
	participles = words("been gone done eaten drunk grown flown driven ridden written broken chosen spoken taken given worn stolen sung swum hurt become begun forgotten hidden known")
	irregular   = words(`went bought got met broke lost found sold ran won came left flew drove rode wrote ate drank grew took gave made had began became built caught chose fell fought hurt kept led lent paid
		put quit read sang saw sent shot slept spent stole swam taught told thought tore woke wore hit cut cost did drew felt forgave froze held hid hung knew laid lay lit meant said sat set shook shut spoke spread
		stood stuck struck swore swept threw understood wept wound was were bred bore beat bit blew brought burnt learnt dreamt spelt sped strove shrank sank sprang overcame withdrew underwent gone done taken been
		spilt bled rang rose showed lived`)
	notPast = words("need feed speed seed bleed indeed hundred red bed wed shed kindred sacred naked exceed proceed succeed tired embed")
)

func pastVerb(w string) bool {
	return irregular[w] || len(w) > 3 && strings.HasSuffix(w, "ed") && !notPast[w]
}
