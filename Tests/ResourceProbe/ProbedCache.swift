import EssentialsRequests
import FoundationEssentials
import Glibc
import ServiceEssentials

/// An entity cache in a directory that other processes use at the same time.
///
/// Each process has keys of its own, and all of them share some. The bytes of an entity show which process has written it,
/// and how many there are. An entity that is not whole is reported as `broken KEY`.
///
/// The lines of the input are commands:
/// - `rounds N` stores and loads N times, stores the first of the own keys, and prints `done OWN OTHER` with the numbers of
///   loaded entities by who has written them.
/// - `endless` stores and loads until the process is killed, and prints `round N`.
/// - `find P` loads the entity that `rounds` of the process P has stored last, and prints `found` or `missing`.
/// - `usage` prints `usage COUNT BYTES DAMAGED`.
struct ProbedCache {
    private static let keysOfEach = 8
    /// Stands for the keys that all processes use.
    private static let shared = 9

    private let cache: FileEntityCache
    /// The number of this process, 0 or 1.
    private let number: Int
    private var round = 0
    private var own = 0
    private var other = 0

    init(_ words: [String]) throws(RequestFailure) {
        guard let number = Int(words[2]), let maximum = Int(words[3]) else { exit(2) }
        self.number = number
        cache = try FileEntityCache(directory: words[1], maximumBytes: maximum)
    }

    mutating func run() async throws(RequestFailure) {
        while let line = readLine() {
            let command = line.split(separator: " ")
            let argument = command.count > 1 ? Int(command[1]) ?? 0 : 0
            switch command.first {
            case "rounds":
                for _ in 0..<argument { try await goOn() }
                try await store(number, 0)
                say("done \(own) \(other)")
            case "endless":
                while true {
                    try await goOn()
                    say("round \(round)")
                }
            case "find":
                let (knownOwn, knownOther) = (own, other)
                try await load(argument, 0)
                say((knownOwn, knownOther) == (own, other) ? "missing" : "found")
            case "usage":
                let usage = await cache.usage
                say("usage \(usage.count) \(usage.bytes) \(usage.damaged)")
            default: exit(2)
            }
        }
    }

    /// Stores and loads one entity each, of the own keys or of those that all use.
    private mutating func goOn() async throws(RequestFailure) {
        round += 1
        // Numbers without a common factor, so that all pairs of keys occur.
        let owner = round % 3 == 0 ? number : Self.shared
        try await store(owner, round * 5 % Self.keysOfEach)
        try await load(round % 2 == 0 ? Self.shared : number, round * 3 % Self.keysOfEach)
    }

    private func key(_ owner: Int, _ index: Int) -> EntityKey {
        EntityKey(url: "https://h/\(owner)/\(index)", stage: "raw")
    }

    /// The number of bytes that an entity of such bytes has.
    private static func size(of byte: UInt8) -> Int { 500 + Int(byte) * 40 }

    private func store(_ owner: Int, _ index: Int) async throws(RequestFailure) {
        let byte = UInt8(number * 128 + round % 128)
        let body = Data(repeating: byte, count: Self.size(of: byte))
        try await cache.store(
            StoredEntity(body: body, date: Date(timeIntervalSinceReferenceDate: 0)), for: key(owner, index))
    }

    private mutating func load(_ owner: Int, _ index: Int) async throws(RequestFailure) {
        guard let body = try await cache.entity(for: key(owner, index))?.body else { return }
        guard let byte = body.first, body.count == Self.size(of: byte), Set(body).count == 1 else {
            return say("broken \(owner)/\(index)")
        }
        if Int(byte) / 128 == number { own += 1 } else { other += 1 }
    }
}
