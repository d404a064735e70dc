/// Decides which domains are public suffixes, such as `co.uk`: domains below which anybody can register a name. A cookie
/// for such a domain would reach the hosts of strangers, so a jar refuses it.
///
/// ```swift
/// let jar = CookieJar(publicSuffixes: try .file("/usr/share/publicsuffix/public_suffix_list.dat"))
/// print(jar.publicSuffixSource)        // file /usr/share/publicsuffix/public_suffix_list.dat, 9506 rules
/// ```
///
/// A lookup takes less than half a microsecond and is safe on any thread.
public struct PublicSuffixRules: Sendable {
    private enum Rules: Sendable {
        case list(PublicSuffixList)
        #if canImport(Glibc)
            case library(PublicSuffixLibrary)
        #endif
        case hostOnly(exceptBelow: Set<String>)
    }

    /// Where the rules come from.
    public enum Source: Sendable, Hashable, CustomStringConvertible {
        /// A list file with this number of rules.
        case file(path: String, ruleCount: Int)
        /// The system's libpsl, in this version.
        case library(version: String)
        /// There is no list. Cookies are for one host only, except below these domains.
        case hostOnly(exceptBelow: [String])

        /// The source in a few words, for logs.
        public var description: String {
            switch self {
            case .file(let path, let count): "file \(RequestFailure.shownPath(path)), \(count) rules"
            case .library(let version): "libpsl \(version)"
            case .hostOnly(let domains):
                domains.isEmpty
                    ? "no list, host-only cookies"
                    : "no list, host-only cookies except below \(domains.joined(separator: ", "))"
            }
        }
    }

    private let rules: Rules
    /// Where the rules come from.
    public let source: Source

    /// The rules of the system's libpsl if it is installed, and ``hostOnly(exceptBelow:)`` otherwise.
    ///
    /// The library is loaded once, on first use.
    public static let automatic = library() ?? hostOnly()

    /// The rules of the system's libpsl, or `nil` if it is not installed.
    ///
    /// The library uses the newer of its built-in list and the system's list file. It stays loaded until the process
    /// exits.
    public static func library() -> PublicSuffixRules? { library(named: "libpsl.so.5") }

    /// The rules of a shared library with the functions of libpsl.
    ///
    /// - Parameter name: The name or the path of the library.
    package static func library(named name: String) -> PublicSuffixRules? {
        #if canImport(Glibc)
            return PublicSuffixLibrary(name).map {
                PublicSuffixRules(rules: .library($0), source: .library(version: $0.version))
            }
        #else
            return nil
        #endif
    }

    /// The rules of a list file in the format of publicsuffix.org. All of its sections count.
    ///
    /// - Throws: `file` if the file cannot be read, is larger than 4 MiB, has more than 100,000 lines, or contains no
    ///   rule.
    public static func file(_ path: String) throws(RequestFailure) -> PublicSuffixRules {
        let list = try PublicSuffixList(path: path)
        return PublicSuffixRules(rules: .list(list), source: .file(path: path, ruleCount: list.count))
    }

    /// Rules for a system without a list. No cookie for a parent domain is accepted, so each cookie is for one host,
    /// except below the given domains.
    ///
    /// - Parameter domains: Domains that are not public suffixes, such as the program's own `example.com`. Case and
    ///   leading dots do not matter.
    public static func hostOnly(exceptBelow domains: [String] = []) -> PublicSuffixRules {
        let names = domains.map { $0.lowercased().drop { $0 == "." } }.filter { !$0.isEmpty }.map(String.init)
        return PublicSuffixRules(
            rules: .hostOnly(exceptBelow: Set(names)), source: .hostOnly(exceptBelow: names))
    }

    /// The registrable domain of a host or domain: the public suffix above it, with one more label. An address and a
    /// public suffix are sites of their own. Without a list, a site has two labels, which joins strangers below a suffix
    /// such as `co.uk`.
    ///
    /// - Parameter domain: The domain as for ``isPublicSuffix(_:)``.
    package func site(of domain: String) -> String {
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, labels.last?.utf8.allSatisfy(\.isASCIIDigit) != true else { return domain }
        if isPublicSuffix(domain) {
            guard case .hostOnly = rules else { return domain }
            return labels.suffix(2).joined(separator: ".")
        }
        var site = domain
        for name in CookieMachine.domains(of: domain).dropFirst() {
            if isPublicSuffix(name) { break }
            site = name
        }
        return site
    }

    /// Whether a domain is a public suffix.
    ///
    /// - Parameter domain: The domain in lower case and in ASCII (A-labels), without a trailing dot.
    public func isPublicSuffix(_ domain: String) -> Bool {
        switch rules {
        case .list(let list): list.isPublicSuffix(domain)
        #if canImport(Glibc)
            case .library(let library): library.isPublicSuffix(domain)
        #endif
        case .hostOnly(let domains):
            !domains.contains(domain) && !domains.contains { CookieRules.isBelow(domain, $0) }
        }
    }
}
