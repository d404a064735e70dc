import EssentialsStorage
import Testing

@testable import EssentialsHTTP

@Suite struct DownloadRulesTests {
    @Test(
        "A date is parsed to seconds since 1970",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
            ("Mon, 28 Feb 2100 00:00:00 GMT", 4_107_456_000), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ] as [(String, Int64)])
    func dates(text: String, seconds: Int64) {
        #expect(ResumeValidator.seconds(ofDate: text) == seconds)
    }

    @Test(
        "A date in another format is not parsed",
        arguments: [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
            "Sün, 06 Nov 1994 08:49:37 GM", "Sun, 06 Nov -994 08:49:37 GMT",
        ])
    func noDates(text: String) {
        #expect(ResumeValidator.seconds(ofDate: text) == nil)
    }

    @Test(
        "Only a quoted printable entity tag is strong",
        arguments: [
            ("\"a\"", true), ("\"\"", true), ("\"a b\"", false), ("\"a", false), ("\"", false), ("a", false),
            ("W/\"a\"", false), ("\"a\"b\"", false), ("\"a\", \"b\"", false), ("\"ä\"", false),
        ])
    func tags(text: String, isStrong: Bool) {
        #expect((ResumeValidator(text: text) != nil) == isStrong)
    }

    @Test("An entity tag with a control character is not used to resume", arguments: ["\"a\u{1}\"", "\"\u{7f}\""])
    func controlCharacters(tag: String) {
        let fields = HTTPFields([HTTPField(name: .eTag, lenientValue: Array(tag.utf8))])
        #expect(ResumeValidator(fields) == nil)
    }

    @Test("A written record is parsed again, and an incomplete one is not")
    func record() throws {
        let validator = try #require(ResumeValidator(text: "\"v1\""))
        let record = ResumeRecord(resource: "https://example.com/a", validator: validator)
        #expect(ResumeRecord(text: record.text) == record)
        for count in 0..<record.text.count { #expect(ResumeRecord(text: String(record.text.prefix(count))) == nil) }
        #expect(ResumeRecord(text: record.text + "\n") == nil)
    }

    @Test(
        "A content range is parsed with its total length",
        arguments: [
            ("bytes 0-0/1", 0...0, 1), ("bytes 5-9/*", 5...9, nil), ("BYTES 5-9/10", 5...9, 10), ("bytes */7", nil, 7),
            ("bytes 0-9223372036854775806/9223372036854775807", 0...(.max - 1), .max),
        ] as [(String, ClosedRange<Int64>?, Int64?)])
    func ranges(text: String, bytes: ClosedRange<Int64>?, total: Int64?) throws {
        let range = try #require(ContentRange(text))
        #expect(range.bytes == bytes)
        #expect(range.total == total)
    }

    @Test(
        "An invalid content range is not parsed",
        arguments: [
            "", "bytes", "bytes ", "bytes 1-2", "bytes 2-1/5", "bytes 1-5/5", "bytes */*", "bytes a-b/c", "items 1-2/3",
            "bytes 1-2/3/4", "bytes 0-9223372036854775807/*", "bytes 1 - 2/3", "bytes +1-2/3", "bytes ١-٢/٣",
        ])
    func noRanges(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test("A name of one very long character is shortened to nothing instead of being split")
    func temporaryName() throws {
        let place = try DownloadPlace("/a/b" + String(repeating: "\u{301}", count: 120))
        #expect(place.directory == "/a")
        #expect(place.file.temporary().hasPrefix("/a/.."))
        #expect(try DownloadPlace("/film").file.temporary().hasPrefix("/.film."))
        #expect(try DownloadPlace("/film").directory == "/")
    }
}
