// Sends requests to servers whose responses are mutations of valid ones, over HTTP/1.1 and HTTP/2, plain and over TLS,
// and reads the received data with all the response readers of the package.
//
//     cd Tests/Benchmarks
//     swift run -c release fuzz-responses --responses 20000
//     swift run -c release fuzz-responses --seed 7 --lane h1 --only 4711
//
// These findings end it with status 1: an exchange that does not end in time, a success whose status is not in the
// response, a later request that receives another request's response, and growing memory. If the process crashes, the
// seed and each lane's response are printed on standard error.

internal import Figures
internal import Glibc

@main
struct FuzzResponses {
    static func main() async throws {
        let options = try Options(CommandLine.arguments.dropFirst())
        print("seed \(options.seed), \(options.responses) responses")
        CrashReport.install(seed: options.seed)
        let kinds = Lane.Kind.allCases.filter { options.lane == nil || options.lane == $0.rawValue }
        let started = ContinuousClock.now
        let findings = await withTaskGroup(of: Findings.self) { group in
            for (index, kind) in kinds.enumerated() {
                group.addTask { await run(kind, index: index, options) }
            }
            var all = Findings()
            for await findings in group { all.add(findings) }
            return all
        }
        let grown = ResidentMemory.peak
        print("\(findings.summary)in \(started.duration(to: .now)), \(grown >> 20) MiB at most")
        for text in findings.texts.prefix(20) { print("FOUND \(text)") }
        if grown > options.memory << 20 { print("FOUND more memory than \(options.memory) MiB") }
        exit(findings.texts.isEmpty && grown <= options.memory << 20 ? 0 : 1)
    }

    private static func run(_ kind: Lane.Kind, index: Int, _ options: Options) async -> Findings {
        var findings = Findings()
        do {
            let lane = try Lane(kind, index: index, seed: options.seed, shows: options.only != nil)
            let share = options.responses * kind.share / 100
            for number in options.only.map({ $0..<$0 + 1 }) ?? 0..<share {
                await lane.run(number, into: &findings)
            }
            await lane.end()
        } catch {
            findings.found("\(kind.rawValue): \(error)")
        }
        return findings
    }
}

/// The command line of the program.
struct Options {
    var responses = 20_000
    var seed: UInt64 = 1
    /// The only lane to run, and its only response.
    var lane: String?
    var only: Int?
    /// The memory limit in MiB.
    var memory = 400

    struct Unknown: Error { let argument: String }

    init(_ arguments: some Sequence<String>) throws {
        var iterator = arguments.makeIterator()
        while let name = iterator.next() {
            guard let value = iterator.next() else { throw Unknown(argument: name) }
            switch name {
            case "--responses": responses = Int(value) ?? responses
            case "--seed": seed = UInt64(value) ?? seed
            case "--lane": lane = value
            case "--only": only = Int(value)
            case "--memory": memory = Int(value) ?? memory
            default: throw Unknown(argument: name)
            }
        }
    }
}

/// The results of the responses.
struct Findings: Sendable {
    /// The number of occurrences of each outcome: a reason, or success.
    var outcomes: [String: Int] = [:]
    var texts: [String] = []

    mutating func found(_ text: String) { texts.append(text) }

    mutating func add(_ other: Findings) {
        outcomes.merge(other.outcomes, uniquingKeysWith: +)
        texts += other.texts
    }

    var summary: String {
        outcomes.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key), " }.joined()
    }
}
