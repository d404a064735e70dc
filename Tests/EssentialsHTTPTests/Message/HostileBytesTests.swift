import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsHTTP

/// Every reader of bytes that a peer chooses, with inputs that make a careless reader go over them again and again.
@Suite struct HostileBytesTests {
    /// A reader with the beginning of what it reads.
    struct Reader: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let beginning: String
        let read: @Sendable ([UInt8]) -> Void

        init(_ name: String, _ beginning: String = "", _ read: @escaping @Sendable ([UInt8]) -> Void) {
            testDescription = name
            self.beginning = beginning
            self.read = read
        }

        init(_ name: String, _ beginning: String = "", text read: @escaping @Sendable (String) -> Void) {
            self.init(name, beginning) { read(String(decoding: $0, as: UTF8.self)) }
        }

        init(
            _ name: String, _ beginning: String = "", field: HTTPField.Name,
            _ read: @escaping @Sendable (HTTPFields) -> Void
        ) {
            self.init(name, beginning) { read(HTTPFields([HTTPField(name: field, value: $0)])) }
        }
    }

    private static let linkName = HTTPField.Name("Link") ?? .location

    static let readers: [Reader] = [
        Reader("Cache-Control", "a=\"", field: .cacheControl) { _ = CacheDirectives(of: $0) },
        Reader("Age and Expires", field: .age) { _ = Freshness.ageField(of: $0) },
        Reader("Vary", field: .vary) { _ = VaryRules.names(in: $0) },
        Reader("Connection", field: .connection) { _ = $0.withoutConnection },
        Reader("ETag", "\"", text: { _ = EntityTag($0) }),
        Reader("If-None-Match", "\"", text: { _ = EntityTag.list($0) }),
        Reader("Accept", "a;q=", text: { _ = VaryRules.form(of: $0, in: .accept) }),
        Reader("Link", "<a>;b=\"", field: linkName) { _ = $0.links },
        Reader("Content-Type", "a/b;c=\"", text: { _ = MediaType(parsing: $0) }),
        Reader("Set-Cookie", "a=b;") { bytes in
            bytes.withUnsafeBufferPointer { _ = try? SetCookieLine($0) }
        },
        Reader("Cookie") { bytes in
            let jar = CookieField(bytes: bytes, count: 1)
            _ = CookieField.merge(own: bytes, with: jar, maximumSize: .max)
        },
        Reader("date of a cookie", "1 ", text: { _ = CookieDate.date(from: $0) }),
        Reader("HTTP date", "Sun, ", text: { _ = HTTPDate.date(from: $0) }),
        Reader("Internet date", "2020-01-01T00:00:00.", text: { _ = InternetDate.date($0) }),
        Reader("Content-Range", "bytes ", text: { _ = ContentRange($0) }),
        Reader("validator", "\"", text: { _ = ResumeValidator(text: $0) }),
        Reader("Location") { bytes in
            guard let base = try? RequestURL("http://a/b/c?d") else { return }
            _ = try? RedirectLocation.resolve(bytes, against: base)
        },
        Reader("URL", "http://a/", text: { _ = try? RequestURL($0) }),
        Reader("host", text: { _ = try? HostName($0) }),
        Reader("query", text: { _ = try? QueryItems(parsing: $0, maximumItems: .max) }),
        Reader("extended value", "utf-8''", { _ = ExtendedValue.text(of: $0) }),
        Reader("header lines", "a: ", { _ = HeaderBlock.read($0) }),
        Reader("consecutive heads", "HTTP/1.1 200\r\na: ", { _ = HeaderBlock.readAll($0) }),
        Reader("JSON", "[\"", { _ = JSONParser.fault(in: Data($0)) }),
        Reader("JSON structure") { _ = JSONParser.fault(in: Data($0)) },
        Reader("JSON with lines", text: { _ = try? LocatedJSON($0) }),
        Reader("charset label", text: { _ = try? Charset($0) }),
        Reader("UTF-8") { _ = try? Charset.utf8.decode(Data($0)) },
        Reader("UTF-16") { _ = try? Charset.utf16.decode(Data($0)) },
        Reader("Shift_JIS") { _ = try? Charset("shift_jis").decode(Data($0)) },
        Reader("events", "data:", { read($0, ServerSentEventParser(maximumSize: .max)) }),
        Reader("public suffixes") { _ = try? PublicSuffixList(Data($0), from: "list") },
        Reader("name of a field or query item", text: { _ = SecretName.isSecret($0, .shown) }),
        Reader("encoded name of a query item", text: { _ = SecretName.isSecret(encoded: $0, .shown) }),
        Reader("text of a message", text: { _ = RequestFailure.shown($0) }),
    ]

    private static func read(_ bytes: [UInt8], _ parser: ServerSentEventParser) {
        var (parser, offset) = (parser, 0)
        bytes.withUnsafeBytes { bytes in
            while (try? parser.next(in: bytes, from: &offset)) ?? nil != nil {}
        }
    }

    static let units = [
        ",\\\"", "a=\"", "\"", "\\", "\\\"", ",", ", ", ";", "; ", ";a", ";a=\"", ";a=b", "=", " ", "\t", "a", "a ",
        "a,",
        "<", "<a>,", "[", "{\"a\":", "[],", "%", "%41", "%2", "/", "/.", "/../", "../", "?", "&", "a&", "a=b&", ".",
        "a.",
        ":", "0", "9", "-", "\n", "\r\n", "\r\n a", "a:\r\n", "data:\n", "\n\n", "\u{301}", "é", "\u{FEFF}", "'",
        "xn--",
        "e\u{301}\u{323}", "token", "\u{0}",
    ]

    @Test("A reader of foreign bytes takes time linear in their number", arguments: readers)
    func linear(reader: Reader) async {
        for unit in Self.units {
            await Task.yield()
            let isLinear = GrowthOfTime.isLinear { size in
                let count = size / unit.utf8.count
                let bytes = Array((reader.beginning + String(repeating: unit, count: count)).utf8)
                return { reader.read(bytes) }
            }
            #expect(isLinear, "\(unit.debugDescription)")
        }
    }
}
