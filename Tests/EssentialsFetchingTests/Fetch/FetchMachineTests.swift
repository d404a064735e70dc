import EssentialsHTTP
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite struct FetchMachineTests {
    enum Input: Sendable, Hashable {
        case cache(FetchMachine.CacheReply)
        case server(FetchMachine.ServerReply)
        case leave
    }

    /// The steps that follow from a whole history, found by looking through it for each source.
    private struct Slow {
        let source: FetchSource
        let options: FetchOptions
        let hasCache: Bool

        private static let any = FetchSource.cacheElseBackend

        private var plan: FetchSource {
            if source == .cache { return .cache }
            if !hasCache { return .backend }
            if options.cachedPreventsDownload, source.kind != .cacheElseBackend { return Self.any }
            return source
        }

        /// The steps in order, of the whole fetch so far.
        func steps(after history: [Input]) -> [FetchMachine.Steps] {
            guard let departure = history.firstIndex(of: .leave) else { return all(history) }
            var steps = all(Array(history[..<departure]))
            if steps.last != .end, steps.last != .fail { steps.append(end) }
            return steps
        }

        private func all(_ history: [Input]) -> [FetchMachine.Steps] {
            if source == .cache, !hasCache { return [.end] }
            switch plan {
            case .cache:
                guard let (hit, _) = cacheReply(history, from: 0) else { return [.askCache] }
                return [.askCache] + (hit ? [.emitCached] : []) + [.end]
            case .backend:
                guard let (reply, _) = serverReply(history, from: 0) else { return [.askServer] }
                return [.askServer] + finish(reply)
            case .backendElseCache:
                guard let (reply, index) = serverReply(history, from: 0) else { return [.askServer] }
                guard reply == .failure else { return [.askServer] + finish(reply) }
                guard let (hit, _) = cacheReply(history, from: index) else { return [.askServer, .askCache] }
                guard hit else { return [.askServer, .askCache, end] }
                return [.askServer, .askCache, options.emitsFailure ? .emitCachedWithFailure : .emitCached, .end]
            case .cacheThenBackend, .both: return concurrent(history)
            default:
                guard let (hit, index) = cacheReply(history, from: 0) else { return [.askCache] }
                if hit { return [.askCache, .emitCached, .end] }
                guard let (reply, _) = serverReply(history, from: index) else { return [.askCache, .askServer] }
                return [.askCache, .askServer] + finish(reply)
            }
        }

        private func concurrent(_ history: [Input]) -> [FetchMachine.Steps] {
            let asked: [FetchMachine.Steps] = [.askServer, .askCache]
            let cache = cacheReply(history, from: 0)
            let server = serverReply(history, from: 0)
            let cached: [FetchMachine.Steps] = cache?.isHit == true ? [.emitCached] : []
            guard let server else { return asked + cached }
            let serverIsFirst = cache.map { server.index < $0.index } ?? true
            if plan == .both, serverIsFirst, server.reply != .failure, server.reply != .cancelled {
                return asked + finish(server.reply)
            }
            guard cache != nil else { return asked }
            return asked + cached + finish(server.reply)
        }

        private func cacheReply(_ history: [Input], from start: Int) -> (isHit: Bool, index: Int)? {
            for (index, input) in history.enumerated() where index >= start {
                guard case .cache(let reply) = input else { continue }
                guard case .hit(let age) = reply else { return (false, index) }
                guard let maximum = source.maximumAge else { return (true, index) }
                return (age != nil && age! <= maximum, index)
            }
            return nil
        }

        private func serverReply(
            _ history: [Input], from start: Int
        ) -> (reply: FetchMachine.ServerReply, index: Int)? {
            for (index, input) in history.enumerated() where index >= start {
                if case .server(let reply) = input { return (reply, index) }
            }
            return nil
        }

        private func finish(_ reply: FetchMachine.ServerReply) -> [FetchMachine.Steps] {
            let stores = options.caches && hasCache
            let emission: [FetchMachine.Steps] = options.emitsValue ? [.emitServed] : []
            switch reply {
            case .value: return emission + (stores ? [.save] : []) + [.end]
            case .nothing: return emission + (stores ? [.delete] : []) + [.end]
            case .empty: return (stores ? [.delete] : []) + [.end]
            case .gone: return (stores ? [.delete] : []) + [end]
            case .failure, .cancelled: return [end]
            }
        }

        private var end: FetchMachine.Steps { options.emitsFailure ? .fail : .end }
    }

    @Test("Ten thousand random sequences of replies lead to the same steps as a slow model")
    func random() {
        let seed = UInt64.random(in: 0 ..< .max)
        var random = SeededNumbers(state: seed)
        for _ in 0..<10_000 {
            let sources: [FetchSource] = [
                .cache, .backend, .cacheThenBackend, .cacheElseBackend, .cacheElseBackend(maximumAge: .seconds(60)),
                .backendElseCache, .both,
            ]
            let source = sources.randomElement(using: &random) ?? .both
            let options = FetchOptions.all.randomElement(using: &random) ?? .standard
            let hasCache = Int.random(in: 0..<5, using: &random) > 0
            var machine = FetchMachine(source, options, hasCache: hasCache)
            let slow = Slow(source: source, options: options, hasCache: hasCache)
            var steps = Self.split(machine.begin())
            var history: [Input] = []
            #expect(steps == slow.steps(after: []))
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let input = Self.input(&random)
                // Replies that were not requested are possible too, and have no effect. The model is simpler without
                // them.
                guard Self.isDue(input, after: steps, history) else {
                    var copy = machine
                    #expect(Self.feed(input, to: &copy) == [])
                    continue
                }
                history.append(input)
                steps += Self.split(Self.feed(input, to: &machine))
                let expected = slow.steps(after: history)
                #expect(steps == expected, "seed \(seed): \(source) \(options) \(hasCache) \(history)")
                guard steps == expected else { return }
            }
        }
        print("FetchMachine: seed \(seed)")
    }

    private static func input(_ random: inout SeededNumbers) -> Input {
        let inputs: [Input] = [
            .cache(.hit(age: .seconds(60))), .cache(.hit(age: .seconds(61))), .cache(.hit(age: nil)), .cache(.miss),
            .server(.value), .server(.nothing), .server(.empty), .server(.gone), .server(.failure), .server(.cancelled),
            .leave,
        ]
        return inputs.randomElement(using: &random) ?? .leave
    }

    private static func feed(_ input: Input, to machine: inout FetchMachine) -> FetchMachine.Steps {
        switch input {
        case .cache(let reply): machine.cache(reply)
        case .server(let reply): machine.server(reply)
        case .leave: machine.leave()
        }
    }

    /// Whether an input is the first reply to a request, or a departure before the end.
    private static func isDue(_ input: Input, after steps: [FetchMachine.Steps], _ history: [Input]) -> Bool {
        guard steps.last != .end, steps.last != .fail else { return false }
        switch input {
        case .cache:
            return steps.contains(.askCache) && !history.contains { if case .cache = $0 { true } else { false } }
        case .server:
            return steps.contains(.askServer) && !history.contains { if case .server = $0 { true } else { false } }
        case .leave: return true
        }
    }

    /// The single steps in their order.
    private static func split(_ steps: FetchMachine.Steps) -> [FetchMachine.Steps] {
        (0..<9).map { FetchMachine.Steps(rawValue: 1 << $0) }.filter { steps.contains($0) }
    }
}
