import EssentialsHTTP
import Testing

@Suite("Status phrases")
struct StatusPhraseTests {
    @Test(
        "A status phrase is the one in the registry",
        arguments: [
            (100, "Continue"), (102, "Processing"), (103, "Early Hints"), (200, "OK"), (207, "Multi-Status"),
            (208, "Already Reported"), (226, "IM Used"), (302, "Found"), (308, "Permanent Redirect"),
            (404, "Not Found"), (413, "Content Too Large"), (416, "Range Not Satisfiable"),
            (417, "Expectation Failed"), (421, "Misdirected Request"), (422, "Unprocessable Content"),
            (423, "Locked"), (424, "Failed Dependency"), (425, "Too Early"), (426, "Upgrade Required"),
            (428, "Precondition Required"), (429, "Too Many Requests"), (431, "Request Header Fields Too Large"),
            (451, "Unavailable For Legal Reasons"), (500, "Internal Server Error"),
            (505, "HTTP Version Not Supported"), (506, "Variant Also Negotiates"), (507, "Insufficient Storage"),
            (508, "Loop Detected"), (510, "Not Extended"), (511, "Network Authentication Required"),
        ])
    func registered(code: Int, phrase: String) {
        #expect(HTTPResponse.Status(code: code).registeredPhrase == phrase)
    }

    /// https://www.iana.org/assignments/http-status-codes
    @Test("Exactly the registered codes have a phrase")
    func complete() {
        let registered: [ClosedRange<Int>] = [
            100...104, 200...208, 226...226, 300...305, 307...308, 400...417, 421...426, 428...429, 431...431,
            451...451, 500...508, 510...511,
        ]
        let known = (0...999).filter { HTTPResponse.Status(code: $0).registeredPhrase != nil }
        #expect(known == registered.flatMap { $0 })
    }
}
