import EssentialsHTTP

/// A user's name and password for Digest, and the hash functions that answers are made with.
///
/// An object, so that what holds one is small. Its text shows nothing.
final class DigestAccount: Sendable {
    let user: String
    let password: String
    let hash: DigestHash
    /// The weakest challenge that is answered; nil for the scheme's default.
    let minimum: DigestMinimum?
    /// Those that can be computed here.
    private let functions: Set<DigestHash.Function>

    init(user: String, password: String, minimum: DigestMinimum? = nil, hash: DigestHash) {
        self.user = user
        self.password = password
        self.hash = hash
        self.minimum = minimum
        functions = Set(DigestHash.Function.allCases.filter { hash.compute($0, []) != nil })
    }

    /// Whether the challenge's algorithm is known and can be computed here.
    func knows(_ challenge: DigestChallenge) -> Bool {
        challenge.algorithm.map { functions.contains($0.function) } ?? false
    }
}

extension DigestAccount: Hashable {
    /// Whether names, passwords and minima are the same.
    static func == (one: DigestAccount, other: DigestAccount) -> Bool {
        one === other
            || one.user == other.user && one.password == other.password
                && one.minimum == other.minimum
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(user)
        hasher.combine(password)
        hasher.combine(minimum)
    }
}

extension DigestAccount: CustomStringConvertible, CustomReflectable {
    var description: String { "Digest …" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
