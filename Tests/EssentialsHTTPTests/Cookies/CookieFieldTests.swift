import EssentialsHTTP
import Testing

@Suite struct CookieFieldTests {
    private func field(_ text: String, omitted: [String] = []) -> CookieField {
        CookieField(
            bytes: Array(text.utf8), count: text.isEmpty ? 0 : text.split(separator: ";").count,
            omitted: omitted.map { Array($0.utf8) })
    }

    @Test(
        "The request's own cookies win, and the jar fills in",
        arguments: [
            ("a=1", "b=2", "a=1; b=2"), ("a=1", "a=2", "a=1"), ("a=1; b=2", "c=3; a=9", "a=1; b=2; c=3"),
            ("a=1", "A=2", "a=1; A=2"), (" a = 1 ;", "a=2; b=3", " a = 1; b=3"), ("flag", "flag=1; x=y", "flag; x=y"),
            ("a=1;b=2", "b=3", "a=1;b=2"), ("", "a=1", "a=1"), ("a=x=y", "x=1", "a=x=y; x=1"),
        ])
    func merge(own: String, jar: String, merged: String) {
        let result = CookieField.merge(own: Array(own.utf8), with: field(jar))
        #expect(String(decoding: result.bytes, as: UTF8.self) == merged)
    }

    @Test("Several cookies of the jar with one name are all added or all left out")
    func sameName() {
        let jar = field("a=long; a=short")
        #expect(
            String(decoding: CookieField.merge(own: Array("b=1".utf8), with: jar).bytes, as: UTF8.self)
                == "b=1; a=long; a=short")
        #expect(CookieField.merge(own: Array("a=1".utf8), with: jar).bytes == Array("a=1".utf8))
    }

    @Test("Merging keeps the request's cookies and leaves out the jar's beyond the maximum size")
    func limit() {
        let merged = CookieField.merge(
            own: Array("a=1".utf8), with: field("b=2; c=3; d=4", omitted: ["e=5", "f=6"]), maximumSize: 13)
        #expect(String(decoding: merged.bytes, as: UTF8.self) == "a=1; b=2; c=3")
        #expect(merged.omittedCount == 3)
        let full = CookieField.merge(own: Array("a=123456".utf8), with: field("b=2"), maximumSize: 4)
        #expect(full.bytes == Array("a=123456".utf8))
        #expect(full.omittedCount == 1)
    }

    @Test("A cookie without room does not count as left out if the request has one of the same name")
    func replacedWithoutRoom() {
        let jar = field("b=2", omitted: ["a=1", "c=3", "a=4"])
        let merged = CookieField.merge(own: Array("a=own".utf8), with: jar, maximumSize: 10)
        #expect(String(decoding: merged.bytes, as: UTF8.self) == "a=own; b=2")
        #expect(merged.omittedCount == 1)
        var fields: HTTPFields = [.cookie: "a=own; c=own"]
        #expect(jar.add(to: &fields) == 0)
        #expect(fields[values: .cookie] == ["a=own; c=own; b=2"])
    }

    @Test("Cookies get the room of those that the request replaces, and later ones follow only if all before them fit")
    func roomOfReplaced() {
        let jar = field("a=long", omitted: ["b=2", "c=33333", "d=4"])
        let merged = CookieField.merge(own: Array("a=1".utf8), with: jar, maximumSize: 16)
        #expect(String(decoding: merged.bytes, as: UTF8.self) == "a=1; b=2")
        #expect(merged.omittedCount == 2)
    }

    @Test("Several Cookie fields of a request become one field with the jar's cookies")
    func addToFields() {
        var fields: HTTPFields = [.accept: "*/*"]
        fields.append(HTTPField(name: .cookie, value: "a=1"))
        fields.append(HTTPField(name: .cookie, value: "b=2"))
        field("b=3; c=4").add(to: &fields)
        #expect(fields[values: .cookie] == ["a=1; b=2; c=4"])
        #expect(fields[.accept] == "*/*")
        var empty = HTTPFields()
        #expect(field("b=3", omitted: ["c=4", "d=5"]).add(to: &empty) == 2)
        #expect(empty[values: .cookie] == ["b=3"])
    }
}
