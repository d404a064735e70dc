import EssentialsHTTP
import FoundationEssentials

/// The time of tests that do not move the clock: 2026-01-01 00:00:00 UTC.
let cookieTime = Date(timeIntervalSince1970: 1_767_225_600)

/// A small public suffix list: `com`, `org`, `co.uk`, everything below `ck` except `www.ck`, and one rule outside ASCII.
let sampleSuffixes: PublicSuffixRules = {
    let path = FileManager.default.temporaryDirectory.path + "/essentials-suffixes-\(UInt64.random(in: .min ... .max))"
    let text = "// a comment\ncom\norg\nexample\nuk\nco.uk\n*.ck\n!www.ck\n公司.cn\ncn\n"
    try? Data(text.utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    return (try? .file(path)) ?? .hostOnly()
}()

/// Reads a line, and returns the cookie or the reason for which it is ignored.
func readCookie(
    _ line: some Collection<UInt8>, from url: String = "https://www.example.com/a/b", now: Date = cookieTime,
    suffixes: PublicSuffixRules = sampleSuffixes
) throws -> Result<Cookie, CookieRefusal> {
    let url = try RequestURL(url)
    return Array(line).withUnsafeBufferPointer { bytes in
        Result { () throws(CookieRefusal) in
            try CookieRules.cookie(from: bytes, at: url, now: now, suffixes: suffixes)
        }
    }
}

func readCookie(
    _ line: String, from url: String = "https://www.example.com/a/b", now: Date = cookieTime,
    suffixes: PublicSuffixRules = sampleSuffixes
) throws -> Result<Cookie, CookieRefusal> {
    try readCookie(line.utf8, from: url, now: now, suffixes: suffixes)
}

extension Result where Success == Cookie, Failure == CookieRefusal {
    var refusal: CookieRefusal? { if case .failure(let refusal) = self { refusal } else { nil } }
    var cookie: Cookie? { try? get() }
}

extension CookieMachine {
    /// Stores a line as if it had arrived from a URL.
    @discardableResult
    mutating func store(_ line: String, from url: String, now: Date = cookieTime) throws -> CookieRefusal? {
        switch try readCookie(line, from: url, now: now) {
        case .success(let cookie): store(cookie, isSecureOrigin: url.hasPrefix("https:"), now: now)
        case .failure(let refusal): refusal
        }
    }

    /// The text of the field for a URL; `nil` if there is none.
    mutating func text(for url: String, now: Date = cookieTime, countsAsUse: Bool = true) throws -> String? {
        field(for: try RequestURL(url), now: now, countsAsUse: countsAsUse).map {
            String(decoding: $0.bytes, as: UTF8.self)
        }
    }
}
