/// The canonical decompositions of characters in the Basic Multilingual Plane
/// ([UAX #15](https://www.unicode.org/reports/tr15/)). The standard library compares texts by them, but does not make
/// them public, and FoundationEssentials has none. Without them “é” could not equal “e”.
///
/// Compatibility ideographs are left out, because they are not letters with marks. Hangul syllables are left out too,
/// because they are searched as they are.
enum CanonicalDecompositions {
    /// The number of characters that can be decomposed.
    static var count: Int { table.count }

    /// Calls a closure with each scalar of the full decomposition of a scalar, or with the scalar itself.
    static func forEach(in scalar: Unicode.Scalar, _ body: (Unicode.Scalar) -> Void) {
        guard let parts = table[scalar] else { return body(scalar) }
        // The depth is bounded by the table: no decomposition contains its own character.
        for part in parts { forEach(in: part, body) }
    }

    /// A letter and a mark, or one equivalent character.
    private static let table: [Unicode.Scalar: [Unicode.Scalar]] = {
        var table: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        for group in text.unicodeScalars.split(separator: " ") {
            let marks = group.prefix(1).filter { $0 != "=" }
            var letters = group.dropFirst().makeIterator()
            while let letter = letters.next(), let whole = letters.next() {
                table[whole] = [letter] + marks
                let capital = Array(letter.properties.uppercaseMapping.unicodeScalars)
                let upper = Array(whole.properties.uppercaseMapping.unicodeScalars)
                if upper.count == 1, capital.count == 1, upper != capital { table[upper[0]] = capital + marks }
            }
        }
        return table
    }()

    /// For each mark, the letters that it changes, each before the result. Upper-case letters that follow from the
    /// lower-case ones are left out. The last group contains equivalents without a mark. Characters that normalization
    /// would change are escaped.
    private static let text = """
        \u{300}aàeèiìoòuùüǜnǹеѐиѝēḕōṑwẁâầăằêềôồơờưừyỳἀἂἁἃἐἒἑἓἠἢἡἣἰἲἱἳὀὂὁὃὐὒὑὓὠὢὡὣαὰεὲηὴιὶοὸυὺωὼ᾿῍ϊῒ῾῝ϋῢ¨῭ \u{301}aáeé\
        iíoóuúyýcćlĺnńrŕsśzźüǘgǵåǻæǽøǿ\u{308}\u{344}¨΅ϊΐαάεέηήιίϋΰοόυύωώϒϓгѓкќçḉēḗïḯkḱmḿõṍōṓpṕũṹwẃâấăắêếôốơớưứἀἄἁἅἐἔἑἕ\
        ἠἤἡἥἰἴἱἵὀὄὁὅὐὔὑὕὠὤὡὥ᾿῎῾῞ \u{302}aâeêiîoôuûcĉgĝhĥjĵsŝwŵyŷzẑạậẹệọộ \u{303}aãnñoõiĩuũvṽâẫăẵeẽêễôỗơỡưữyỹ \u{304}aā\
        eēiīoōuūüǖäǟȧǡæǣǫǭöȫõȭȯȱyȳиӣуӯgḡḷḹṛṝαᾱιῑυῡ \u{306}aăeĕgğiĭoŏuŭийуўжӂаӑеӗȩḝạặαᾰιῐυῠ \u{307}cċeėgġIİzżaȧoȯbḃdḋfḟ\
        hḣmṁnṅpṗrṙsṡśṥšṧṣṩtṫwẇxẋyẏſẛ \u{308}aäeëiïoöuüyÿιϊυϋϒϔеёіїаӓәӛжӝзӟиӥоӧөӫэӭуӱчӵыӹhḧõṏūṻwẅxẍtẗ \u{309}aảâẩăẳeẻêể\
        iỉoỏôổơởuủưửyỷ \u{30a}aåuůwẘyẙ \u{30b}oőuűуӳ \u{30c}cčdďeělľnňrřsštťzžaǎiǐoǒuǔüǚgǧkǩʒǯjǰhȟ \u{30f}aȁeȅiȉoȍrȑuȕ\
        ѵѷ \u{311}aȃeȇiȋoȏrȓuȗ \u{313}αἀεἐηἠιἰοὀυὐωὠρῤ \u{314}αἁεἑηἡιἱοὁυὑωὡρῥ \u{31b}oơuư \u{323}bḅdḍhḥkḳlḷmṃnṇrṛsṣtṭ\
        vṿwẉzẓaạeẹiịoọơợuụưựyỵ \u{324}uṳ \u{325}aḁ \u{326}sștț \u{327}cçgģkķlļnņrŗsştţeȩdḑhḩ \u{328}aąeęiįuųoǫ \
        \u{32d}dḓeḙlḽnṋtṱuṷ \u{32e}hḫ \u{330}eḛiḭuṵ \u{331}bḇdḏkḵlḻnṉrṟtṯzẕhẖ \u{338}←↚→↛↔↮⇐⇍⇔⇎⇒⇏∃∄∈∉∋∌∣∤∥∦∼≁≃≄≅≇≈≉=≠\
        ≡≢≍≭<≮>≯≤≰≥≱≲≴≳≵≶≸≷≹≺⊀≻⊁⊂⊄⊃⊅⊆⊈⊇⊉⊢⊬⊨⊭⊩⊮⊫⊯≼⋠≽⋡⊑⋢⊒⋣⊲⋪⊳⋫⊴⋬⊵⋭⫝\u{2adc} \u{342}ἀἆἁἇἠἦἡἧἰἶἱἷὐὖὑὗὠὦὡὧαᾶ¨῁ηῆ᾿῏ιῖϊῗ῾῟υῦ\
        ϋῧωῶ \u{345}ἀᾀἁᾁἂᾂἃᾃἄᾄἅᾅἆᾆἇᾇἈᾈἉᾉἊᾊἋᾋἌᾌἍᾍἎᾎἏᾏἠᾐἡᾑἢᾒἣᾓἤᾔἥᾕἦᾖἧᾗἨᾘἩᾙἪᾚἫᾛἬᾜἭᾝἮᾞἯᾟὠᾠὡᾡὢᾢὣᾣὤᾤὥᾥὦᾦὧᾧὨᾨὩᾩὪᾪὫᾫὬᾬὭᾭὮᾮὯᾯὰᾲ\
        αᾳάᾴᾶᾷΑᾼὴῂηῃήῄῆῇΗῌὼῲωῳώῴῶῷΩῼ \u{5b4}\u{5d9}\u{fb1d} \u{5b7}\u{5f2}\u{fb1f}\u{5d0}\u{fb2e} \
        \u{5b8}\u{5d0}\u{fb2f} \u{5b9}\u{5d5}\u{fb4b} \u{5bc}\u{5d0}\u{fb30}\u{5d1}\u{fb31}\u{5d2}\u{fb32}\
        \u{5d3}\u{fb33}\u{5d4}\u{fb34}\u{5d5}\u{fb35}\u{5d6}\u{fb36}\u{5d8}\u{fb38}\u{5d9}\u{fb39}\u{5da}\u{fb3a}\
        \u{5db}\u{fb3b}\u{5dc}\u{fb3c}\u{5de}\u{fb3e}\u{5e0}\u{fb40}\u{5e1}\u{fb41}\u{5e3}\u{fb43}\u{5e4}\u{fb44}\
        \u{5e6}\u{fb46}\u{5e7}\u{fb47}\u{5e8}\u{fb48}\u{5e9}\u{fb49}\u{5ea}\u{fb4a} \u{5bf}\u{5d1}\u{fb4c}\
        \u{5db}\u{fb4d}\u{5e4}\u{fb4e} \u{5c1}\u{5e9}\u{fb2a}\u{fb49}\u{fb2c} \u{5c2}\u{5e9}\u{fb2b}\u{fb49}\u{fb2d} \
        \u{653}\u{627}\u{622} \u{654}\u{627}\u{623}\u{648}\u{624}\u{64a}\u{626}\u{6d5}\u{6c0}\u{6c1}\u{6c2}\
        \u{6d2}\u{6d3} \u{655}\u{627}\u{625} \u{93c}नऩरऱळऴक\u{958}ख\u{959}ग\u{95a}ज\u{95b}ड\u{95c}ढ\u{95d}फ\u{95e}\
        य\u{95f} \u{9bc}ড\u{9dc}ঢ\u{9dd}য\u{9df} \u{9be}\u{9c7}\u{9cb} \u{9d7}\u{9c7}\u{9cc} \u{a3c}ਲ\u{a33}ਸ\u{a36}\
        ਖ\u{a59}ਗ\u{a5a}ਜ\u{a5b}ਫ\u{a5e} \u{b3c}ଡ\u{b5c}ଢ\u{b5d} \u{b3e}\u{b47}\u{b4b} \u{b56}\u{b47}\u{b48} \
        \u{b57}\u{b47}\u{b4c} \u{bbe}\u{bc6}\u{bca}\u{bc7}\u{bcb} \u{bd7}ஒஔ\u{bc6}\u{bcc} \u{c56}\u{c46}\u{c48} \
        \u{cc2}\u{cc6}\u{cca} \u{cd5}\u{cbf}\u{cc0}\u{cc6}\u{cc7}\u{cca}\u{ccb} \u{cd6}\u{cc6}\u{cc8} \
        \u{d3e}\u{d46}\u{d4a}\u{d47}\u{d4b} \u{d57}\u{d46}\u{d4c} \u{dca}\u{dd9}\u{dda}\u{ddc}\u{ddd} \
        \u{dcf}\u{dd9}\u{ddc} \u{ddf}\u{dd9}\u{dde} \u{f72}\u{f71}\u{f73} \u{f74}\u{f71}\u{f75} \u{f80}\u{fb2}\u{f76}\
        \u{fb3}\u{f78}\u{f71}\u{f81} \u{fb5}ཀ\u{f69}\u{f90}\u{fb9} \u{fb7}ག\u{f43}ཌ\u{f4d}ད\u{f52}བ\u{f57}ཛ\u{f5c}\
        \u{f92}\u{f93}\u{f9c}\u{f9d}\u{fa1}\u{fa2}\u{fa6}\u{fa7}\u{fab}\u{fac} \u{102e}ဥဦ \u{1b35}ᬅᬆᬇᬈᬉᬊᬋᬌᬍᬎᬑᬒ\
        \u{1b3a}\u{1b3b}\u{1b3c}\u{1b3d}\u{1b3e}\u{1b40}\u{1b3f}\u{1b41}\u{1b42}\u{1b43} \u{3099}かがきぎくぐけげこごさざしじすずせぜそぞ\
        ただちぢつづてでとどはばひびふぶへべほぼうゔゝゞカガキギクグケゲコゴサザシジスズセゼソゾタダチヂツヅテデトドハバヒビフブヘベホボウヴワヷヰヸヱヹヲヺヽヾ \u{309a}はぱひぴふぷへぺほぽハパヒピフプヘペホポ \
        =\u{300}\u{340}\u{301}\u{341}\u{313}\u{343}ʹ\u{374};\u{37e}·\u{387}ά\u{1f71}έ\u{1f73}ή\u{1f75}ί\u{1f77}\
        ό\u{1f79}ύ\u{1f7b}ώ\u{1f7d}ι\u{1fbe}ΐ\u{1fd3}ΰ\u{1fe3}΅\u{1fee}`\u{1fef}´\u{1ffd}\u{2002}\u{2000}\
        \u{2003}\u{2001}Ω\u{2126}K\u{212a}Å\u{212b}〈\u{2329}〉\u{232a} 
        """
}
