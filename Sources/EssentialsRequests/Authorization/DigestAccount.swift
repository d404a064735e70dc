import EssentialsHTTP

/// A user name and a password for Digest, and the hash functions that compute answers.
///
/// It is an object, so that values that contain it stay small. Its description shows no secret.
final class DigestAccount: Sendable {
    let user: String
    let password: String
    let hash: DigestHash
    /// The weakest challenge that is answered; `nil` means the default of the URL's scheme.
    let minimum: DigestMinimum?
    /// The functions that ``hash`` supports.
    private let functions: Set<DigestHash.Function>

    init(user: String, password: String, minimum: DigestMinimum? = nil, hash: DigestHash) {
        self.user = user
        self.password = password
        self.hash = hash
        self.minimum = minimum
        functions = Set(DigestHash.Function.allCases.filter { hash.compute($0, []) != nil })
    }

    /// Whether the algorithm of the challenge is known and ``hash`` supports it.
    func knows(_ challenge: DigestChallenge) -> Bool {
        challenge.algorithm.map { functions.contains($0.function) } ?? false
    }
}

extension DigestAccount: Hashable {
    /// Whether user names, passwords and minimums are equal. Hash functions cannot be compared.
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
