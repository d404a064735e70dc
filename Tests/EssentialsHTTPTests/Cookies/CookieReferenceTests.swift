import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

/// Compares the machine with a list that is searched from end to end and follows the text of the rules.
@Suite struct CookieReferenceTests {
    /// A slow jar.
    private struct Reference {
        var cookies: [(cookie: Cookie, order: Int)] = []
        var nextOrder = 0
        let limits: CookieLimits

        private static func matches(_ name: String, _ domain: String) -> Bool {
            name == domain || name.hasSuffix("." + domain)
        }

        mutating func store(_ cookie: Cookie, isSecureOrigin: Bool, now: Date) -> Bool {
            cookies.removeAll { Self.expired($0.cookie, now) }
            let isCovered = cookies.contains { old, _ in
                old.isSecure && old.name == cookie.name
                    && (Self.matches(old.domain, cookie.domain) || Self.matches(cookie.domain, old.domain))
                    && CookieRules.path(old.path, matches: cookie.path[...])
            }
            if !isSecureOrigin, !cookie.isSecure, isCovered { return false }
            let old = cookies.firstIndex { old, _ in
                old.name == cookie.name && old.domain == cookie.domain && old.isHostOnly == cookie.isHostOnly
                    && old.path == cookie.path
            }
            var order = nextOrder
            if let old {
                order = cookies[old].order
                cookies.remove(at: old)
            } else if !Self.expired(cookie, now) {
                nextOrder += 1
            }
            if Self.expired(cookie, now) { return true }
            cookies.append((cookie, order))
            if old == nil { evict(domain: cookie.domain) }
            return true
        }

        private mutating func evict(domain: String) {
            while cookies.count(where: { $0.cookie.domain == domain }) > limits.perDomain {
                removeFirst {
                    $0.domain == domain && !$0.isSecure
                } else: {
                    $0.domain == domain
                }
            }
            while cookies.count > limits.total {
                let crowded = Set(
                    cookies.map(\.cookie.domain).filter { domain in
                        cookies.count { $0.cookie.domain == domain } > limits.crowded
                    })
                if crowded.isEmpty {
                    removeFirst { _ in
                        true
                    } else: { _ in
                        true
                    }
                } else {
                    removeFirst {
                        crowded.contains($0.domain) && !$0.isSecure
                    } else: {
                        crowded.contains($0.domain)
                    }
                }
            }
        }

        /// Removes the cookie with the oldest use that meets the first condition, or the second if there is none.
        private mutating func removeFirst(where first: (Cookie) -> Bool, else second: (Cookie) -> Bool) {
            let group = cookies.contains { first($0.cookie) } ? first : second
            let victim = cookies.indices.filter { group(cookies[$0].cookie) }
                .min {
                    (cookies[$0].cookie.lastUsed, cookies[$0].order) < (cookies[$1].cookie.lastUsed, cookies[$1].order)
                }
            if let victim { cookies.remove(at: victim) }
        }

        mutating func text(for url: RequestURL, now: Date) throws -> String? {
            cookies.removeAll { Self.expired($0.cookie, now) }
            var found: [Int] = []
            for (index, entry) in cookies.enumerated() {
                let (cookie, host) = (entry.cookie, url.origin.host.text)
                guard cookie.isHostOnly ? cookie.domain == host : Self.matches(host, cookie.domain) else { continue }
                guard !cookie.isSecure || url.origin.scheme == .https else { continue }
                guard CookieRules.path(cookie.path, matches: url.path) else { continue }
                found.append(index)
            }
            found.sort {
                (-cookies[$0].cookie.path.utf8.count, cookies[$0].order)
                    < (-cookies[$1].cookie.path.utf8.count, cookies[$1].order)
            }
            for index in found { cookies[index].cookie = used(cookies[index].cookie, now) }
            let pairs = found.map { cookies[$0].cookie }.map { "\($0.name)=\($0.value)" }
            return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
        }

        private static func expired(_ cookie: Cookie, _ now: Date) -> Bool { cookie.expires.map { $0 <= now } ?? false }

        /// The cookie with another time of its last use, which only the constructor sets here.
        private func used(_ cookie: Cookie, _ now: Date) -> Cookie {
            Cookie(
                pair: cookie.pair, nameCount: cookie.nameCount, domain: cookie.domain, isHostOnly: cookie.isHostOnly,
                path: cookie.path, expires: cookie.expires, isSecure: cookie.isSecure, created: now)
        }

        mutating func clear(_ host: String) {
            cookies.removeAll { entry, _ in
                entry.isHostOnly ? entry.domain == host : Self.matches(host, entry.domain)
            }
        }
    }

    private static let hosts = [
        "example.com", "www.example.com", "a.www.example.com", "api.example.com", "example.org", "localhost",
        "b.localhost",
    ]
    private static let paths = ["/", "/a", "/a/b", "/ab"]

    @Test("Random sequences have the same outcome as a slow reference", arguments: 1...60 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        var limits = CookieLimits()
        (limits.perDomain, limits.crowded, limits.total) = (4, 2, Int.random(in: 6...14, using: &numbers))
        var machine = CookieMachine(limits: limits)
        var reference = Reference(limits: limits)
        var now = cookieTime
        for step in 0..<300 {
            now.addTimeInterval(Double(Int.random(in: 0...3, using: &numbers)))
            let scheme = Bool.random(using: &numbers) ? "https" : "http"
            let host = Self.hosts.randomElement(using: &numbers) ?? ""
            let path = Self.paths.randomElement(using: &numbers) ?? "/"
            let url = try RequestURL("\(scheme)://\(host)\(path)")
            switch Int.random(in: 0..<20, using: &numbers) {
            case 0..<12:
                guard let cookie = try readCookie(line(&numbers, host), from: "\(url)", now: now).cookie else {
                    continue
                }
                let isStored = machine.store(cookie, isSecureOrigin: scheme == "https", now: now) == nil
                #expect(
                    reference.store(cookie, isSecureOrigin: scheme == "https", now: now) == isStored,
                    "seed \(seed), step \(step)")
            case 12:
                machine.removeAll(visibleTo: url.origin.host)
                reference.clear(host)
            default:
                let text = machine.field(for: url, now: now).map { String(decoding: $0.bytes, as: UTF8.self) }
                #expect(try reference.text(for: url, now: now) == text, "seed \(seed), step \(step)")
            }
            let (listed, expected) = (machine.cookies(now: now), reference.cookies.sorted { $0.order < $1.order })
            #expect(
                listed.map(\.description)
                    == expected.filter { !($0.cookie.expires.map { $0 <= now } ?? false) }
                    .map(\.cookie.description), "seed \(seed), step \(step)")
            #expect(machine.count <= limits.total, "seed \(seed), step \(step)")
        }
    }

    private func line(_ numbers: inout SeededNumbers, _ host: String) -> String {
        var line =
            "\(["a", "b", "c", "A"].randomElement(using: &numbers) ?? "")=\(Int.random(in: 0...99, using: &numbers))"
        if Bool.random(using: &numbers) { line += "; Path=\(Self.paths.randomElement(using: &numbers) ?? "/")" }
        if Bool.random(using: &numbers) { line += "; Secure" }
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: line += "; Domain=\(host)"
        case 1: line += "; Domain=\(host.split(separator: ".").suffix(2).joined(separator: "."))"
        default: break
        }
        if Int.random(in: 0..<3, using: &numbers) == 0 {
            line += "; Max-Age=\(Int.random(in: 0...30, using: &numbers))"
        }
        return line
    }
}
