import EssentialsRequests
import EssentialsTransport

/// The keys of the server under which the responses of a ``ResponseKey`` are kept.
///
/// The hash of the URL is in braces, so that all its keys lie on one node of a cluster. No URL and no account can be read in a
/// key.
struct ResponseNames: Sendable {
    /// The number that each invalidation of the URL changes.
    let epoch: String
    /// The responses.
    let list: String
    /// The numbers that removals change: of everything, of the origin, and of the account there and anywhere.
    let generations: [String]
    /// The number that a removal of some URLs changes, for responses that are asked for before.
    let removals: String
    /// The hash of the account that the application has named; zero without one.
    let account: UInt128

    /// The numbers that are kept for ever, because there are few.
    var lasting: [String] { [removals] + generations.prefix(2) }
    /// The keys of all numbers.
    var numbers: [String] { [epoch, removals] + generations }
    /// The keys that a lookup needs: the list, and then all numbers.
    var all: [String] { [list] + numbers }

    /// - Returns: `nil` if the responses of the key must not leave the process.
    init?(_ key: ResponseKey, _ space: ResponseSpace) {
        guard let partition = key.partition, !key.hasEnded, !key.hasSecrets || space.hidesSecrets else { return nil }
        let url = space.hash(key.url.description)
        epoch = space.epoch(of: key.url)
        list = "\(space.responses){\(url)}:\(space.hash(partition))"
        removals = space.removals
        account = key.account.map { space.number(of: $0) } ?? 0
        var generations = [space.everything, space.generation(of: key.url.origin)]
        if let account = key.account {
            generations += [space.generation(of: account), space.generation(of: account, at: key.url.origin)]
        }
        self.generations = generations
    }

    /// The key of a body.
    func body(_ reference: UInt64) -> String { "\(list):\(String(reference, radix: 16))" }
    /// The key of the right to ask the server.
    var lease: String { "\(list):l" }
}

/// The keys of an application's responses.
struct ResponseSpace: Sendable {
    private let prefix: String
    private let secret: FingerprintKey

    /// Whether who reads the server cannot try out which secrets a hash is of.
    var hidesSecrets: Bool { secret != .common }

    init(prefix: String, secret: FingerprintKey) { (self.prefix, self.secret) = (prefix, secret) }

    /// What the keys of all responses begin with.
    var responses: String { prefix + "c:" }
    var everything: String { Self.everything(prefix: prefix) }
    var removals: String { prefix + "g:t" }

    static func everything(prefix: String) -> String { prefix + "g" }

    func epoch(of url: RequestURL) -> String { "\(responses){\(hash(url.description))}:e" }
    func generation(of origin: Origin) -> String { "\(prefix)g:o:\(hash(origin.description))" }
    func generation(of account: EntityPartition) -> String { "\(prefix)g:a:\(hash(account.name))" }

    func generation(of account: EntityPartition, at origin: Origin) -> String {
        "\(prefix)g:b:\(hash(origin.description + "\u{1}" + account.name))"
    }

    /// The hash of an account, which is never zero.
    func number(of account: EntityPartition) -> UInt128 { max(secret.hash(of: Array(account.name.utf8)), 1) }

    func hash(_ text: String) -> String {
        let digits = String(secret.hash(of: Array(text.utf8)), radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
