import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// Fills the page with a report.
struct InspectorPage {
    /// The policy of the page: nothing but its own style and script, and connections to its own server.
    static func policy(nonce: String) -> String {
        "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'"
    }

    /// A new nonce of about 190 random bits.
    static func nonce() -> String { .randomAlphanumeric(32) }

    private static let parts = pieces(of: text(PackageResources.page_html))
    private static let style = text(PackageResources.page_css)
    private static let script = text(PackageResources.page_js)

    /// The page.
    ///
    /// - Parameters:
    ///   - isLive: Whether the page follows the events of its server.
    ///   - hasPolicy: Whether the page itself contains its policy, because no server sends it.
    static func text(_ report: InspectorReport, isLive: Bool, nonce: String, hasPolicy: Bool) -> String {
        let values = [
            "nonce": nonce, "style": style, "script": script, "data": data(report), "live": isLive ? "true" : "false",
            "title": (report.program.isEmpty ? "HTTP inspector" : "\(report.program) - HTTP").escapedForMarkup,
        ]
        var page = ""
        for part in parts {
            switch part {
            case .text(let text): page += text
            case .placeholder(let name): page += values[name] ?? ""
            }
        }
        guard hasPolicy else { return page }
        let head = "<meta charset=\"utf-8\">"
        return page.replacing(
            head, with: "\(head)\n<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy(nonce: nonce))\">",
            maxReplacements: 1)
    }

    /// The report as JSON in which nothing ends the element that contains it.
    private static func data(_ report: InspectorReport) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        guard let data = try? encoder.encode(report) else { return "{}" }
        // Bytes are compared, because some characters before a `<` make one character of both.
        let pieces = Array(data).split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false)
        return text(Array(pieces.joined(separator: Array("\\u003c".utf8))))
    }

    // MARK: The template

    private enum Part {
        case text(String)
        case placeholder(String)
    }

    /// The template is split once, so that what fills one place is not searched for others.
    private static func pieces(of template: String) -> [Part] {
        var parts: [Part] = []
        var rest = template[...]
        while let begin = rest.firstRange(of: "{{"), let end = rest[begin.upperBound...].firstRange(of: "}}") {
            parts.append(.text(String(rest[..<begin.lowerBound])))
            parts.append(.placeholder(String(rest[begin.upperBound..<end.lowerBound])))
            rest = rest[end.upperBound...]
        }
        return parts + [.text(String(rest))]
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension InspectorReport {
    /// A page that shows the report: one HTML file with all that it needs, which works without a network.
    ///
    /// It contains the data of the report, so it is as confidential as that. It takes about 50 KiB, and the size of the data.
    public var page: String {
        InspectorPage.text(self, isLive: false, nonce: InspectorPage.nonce(), hasPolicy: true)
    }
}
