import EssentialsHTTP
import EssentialsLocator
import FoundationEssentials
import Testing

@testable import EssentialsInspector

@Suite("The page of a report")
struct PageTests {
    private func har(_ text: String) -> HAR {
        var entry = HAR.Entry(
            started: Date(timeIntervalSince1970: 0), request: .init(method: "GET", url: "https://h/\(text)"))
        entry.response.headers = [.init(name: "X-Odd", value: text)]
        return HAR(entries: [entry])
    }

    @Test("No text of a server ends the element with the data, or fills another place")
    func hostile() throws {
        let texts = [
            "</script><script>alert(1)</script>", "{{script}}", "<!--", "\u{2028}</SCRIPT >", "\"'&",
            "\u{600}</script>\u{600}<h1>", "\u{110BD}<",
        ]
        for text in texts {
            let page = InspectorReport(har(text), program: text).page
            let open = try #require(page.firstRange(of: "type=\"application/json\""))
            let begin = try #require(page[open.upperBound...].firstRange(of: ">"))
            let end = try #require(page[begin.upperBound...].firstRange(of: "</script>"))
            let data = String(page[begin.upperBound..<end.lowerBound])
            let report = try JSONDecoder().decode(InspectorReport.self, from: Data(data.utf8))
            #expect(report.har.entries.first?.response.headers.first?.value == text)
            #expect(!data.contains("<"))
            #expect(!page.contains("<title>\(text)") || !text.contains("<"))
        }
    }

    @Test("The page allows only its own style and script, and refers to nothing else")
    func policy() throws {
        let page = InspectorReport(har("a")).page
        let other = InspectorReport(har("a")).page
        let policy = try #require(page.firstRange(of: "default-src 'none'; style-src 'nonce-"))
        let nonce = page[policy.upperBound...].prefix { $0 != "'" }
        #expect(nonce.count == 32 && !other.contains(nonce))
        #expect(page.contains("<style nonce=\"\(nonce)\">") && page.contains("<script nonce=\"\(nonce)\">"))
        for text in ["{{", "src=", "@import", "url(", " onclick=", " style=\""] {
            let parts = page.split(separator: "<script type=\"application/json\"")
            #expect(!parts[0].contains(text), "\(text)")
        }
        #expect(page.utf8.count < 80 << 10)
    }

    @Test("The drawing of a locator has a box, its services and the lines between them, and is the same each time")
    func drawing() throws {
        final class One: Sendable {}
        final class Two: Sendable {}
        func svg() throws -> String {
            let locator = ServiceLocator(name: "a<b>")
            try locator.registerLazy(One.self) { _ in One() }
            try locator.registerLazy(Two.self) { locator in
                _ = try locator.resolve(One.self)
                return Two()
            }
            try locator.register("text & \"more\"", as: String.self, named: "x<y")
            _ = try locator.resolve(Two.self)
            return locator.graph().svg
        }
        let drawing = try svg()
        #expect(try svg() == drawing)
        #expect(drawing.components(separatedBy: "class=\"service").count == 4)
        #expect(drawing.components(separatedBy: "class=\"edge\"").count == 2)
        #expect(drawing.contains("a&lt;b&gt;") && drawing.contains("x&lt;y") && !drawing.contains("style="))
        #expect(ServiceLocator(name: "").graph().svg.hasPrefix("<svg "))
    }
}
