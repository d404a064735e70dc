import Glibc
import Testing

@Suite("Data ownership")
struct IdentityTests {
    /// How many sequences are tried. `ESSENTIALS_IDENTITY_SEQUENCES` names another number, and
    /// `ESSENTIALS_IDENTITY_SEED` the seed of a single one that is repeated.
    private static var seeds: Range<UInt64> {
        if let seed = number("ESSENTIALS_IDENTITY_SEED") { return seed..<(seed + 1) }
        return 0..<(number("ESSENTIALS_IDENTITY_SEQUENCES") ?? standardCount)
    }

    #if ESSENTIALS_THREAD_SANITIZER
        private static let standardCount: UInt64 = 20
    #else
        private static let standardCount: UInt64 = 100
    #endif

    private static func number(_ variable: String) -> UInt64? {
        getenv(variable).flatMap { UInt64(String(cString: $0)) }
    }

    @Test("Data is shown, stored and sent only for the user for whom it was made")
    func sequences() async {
        let findings = IdentityFindings(Self.seeds)
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { await findings.run() } }
        }
        print(findings.summary)
        for text in findings.texts { Issue.record("\(text)") }
    }
}
