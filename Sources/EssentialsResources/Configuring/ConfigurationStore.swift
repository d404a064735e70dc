import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import Logging

/// The configuration of a resource for one method, computed from all matching blocks.
final class EffectiveConfiguration: Sendable {
    /// The version of the blocks from which it was computed.
    let version: UInt64
    let method: HTTPRequest.Method
    let values: ResourceConfiguration
    /// The rules for how long content is fresh.
    let freshness: FreshnessRules
    /// The caches of the pipeline's stages, from the first to the last.
    let caches: [StageCache]
    /// The names of the blocks that matched, in their order. Blocks without a name are left out.
    let names: [String]

    init(
        version: UInt64, method: HTTPRequest.Method, values: ResourceConfiguration, names: [String],
        cache: (any EntityCache)? = nil
    ) {
        (self.version, self.method, self.values, self.names) = (version, method, values, names)
        caches = [StageCache](values.pipeline, standard: values.usesServiceCache ? cache : nil)
        freshness = FreshnessRules(expiration: values.expiration.rule, retryTime: values.retryTime)
    }
}

/// The configuration blocks of a service, in the order in which they were added.
///
/// A version counts their changes. Values that were computed from the blocks are valid as long as the version is the
/// same.
final class ConfigurationStore: Sendable {
    struct Block: Sendable {
        let name: String?
        let methods: Set<HTTPRequest.Method>?
        let change: @Sendable (inout ResourceConfiguration) -> Void
        var pattern: ResourcePattern
        fileprivate(set) var number: UInt64 = 0

        init(
            _ pattern: ResourcePattern, _ methods: Set<HTTPRequest.Method>?, _ name: String?,
            _ change: @escaping @Sendable (inout ResourceConfiguration) -> Void
        ) {
            (self.pattern, self.methods, self.name, self.change) = (pattern, methods, name, change)
        }
    }

    private struct Contents: Sendable {
        var blocks: [Block] = []
        var lastNumber: UInt64 = 0
    }

    /// The maximum number of blocks.
    static let maximumBlocks = 1_024

    private let defaults: ResourceConfiguration
    /// The cache of the service.
    private let cache: (any EntityCache)?
    private let contents = Mutex(Contents())
    private let counter = Atomic<UInt64>(0)

    init(_ defaults: ResourceConfiguration, cache: (any EntityCache)? = nil) {
        (self.defaults, self.cache) = (defaults, cache)
    }

    /// The version of the blocks. Reading it takes no lock.
    var version: UInt64 { counter.load(ordering: .acquiring) }

    /// Adds a block after all others.
    ///
    /// - Returns: Its number; `nil` if there are too many blocks.
    func add(_ block: Block) -> UInt64? {
        let number = contents.withLock { contents -> UInt64? in
            guard contents.blocks.count < Self.maximumBlocks else { return nil }
            contents.lastNumber += 1
            var block = block
            block.number = contents.lastNumber
            contents.blocks.append(block)
            return block.number
        }
        expire()
        return number
    }

    /// Removes a block. Removing it again does nothing.
    func remove(_ number: UInt64) {
        let removed = contents.withLock { contents in
            contents.blocks.firstIndex { $0.number == number }.map { contents.blocks.remove(at: $0) }
        }
        expire()
        // Its closure, and the objects that it holds, may be released here, outside the lock.
        _ = consume removed
    }

    /// Uses another base. Patterns for one URL below the old base move with it.
    func move(from old: ResourceBase, to new: ResourceBase) {
        contents.withLock { contents in
            for index in contents.blocks.indices {
                contents.blocks[index].pattern = contents.blocks[index].pattern.moved(from: old, to: new)
            }
        }
        expire()
    }

    /// Makes all configurations be computed again at their next use.
    func expire() { counter.wrappingAdd(1, ordering: .releasing) }

    /// The patterns of the blocks that set one of the tags. The blocks are called without a lock.
    func patterns(tagged tags: Set<String>) -> [ResourcePattern] {
        guard defaults.tags.isDisjoint(with: tags) else { return [.all] }
        return contents.withLock { $0.blocks }.compactMap { block in
            if let methods = block.methods, !methods.contains(.get) { return nil }
            var values = defaults
            block.change(&values)
            return values.tags.isDisjoint(with: tags) ? nil : block.pattern
        }
    }

    /// Computes the configuration of a resource. The blocks are called without a lock.
    func effective(
        for url: ResourceURL, below base: ResourceBase, _ method: HTTPRequest.Method
    ) -> EffectiveConfiguration {
        // The version is read first. If a block is added meanwhile, the configuration is computed again with it.
        let version = version
        var values = defaults
        var names: [String] = []
        for block in contents.withLock({ $0.blocks }) {
            if let methods = block.methods, !methods.contains(method) { continue }
            guard block.pattern.matches(url, below: base) else { continue }
            block.change(&values)
            if let name = block.name { names.append(name) }
        }
        return EffectiveConfiguration(version: version, method: method, values: values, names: names, cache: cache)
    }
}

extension HTTPResourceService {
    /// Returns the configuration of a resource for a method, and computes it if it is not kept.
    func effective(for core: ResourceCore, _ method: HTTPRequest.Method = .get) -> EffectiveConfiguration {
        if let kept = core.configuration(method, configurations.version) { return kept }
        let made = configurations.effective(for: core.address, below: table.base, method)
        core.keep(made)
        let skipped = made.values.pipeline.skippedStages
        if !skipped.isEmpty {
            configuration.logger.debug(
                "Transformers of stages outside the order of the pipeline are skipped.",
                metadata: [
                    "category": "pipeline", "resource": "\(core.address)",
                    "stages": .array(skipped.map(\.name).sorted().map { .string($0) }),
                ])
        }
        return made
    }
}
