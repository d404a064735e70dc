public import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import Logging

/// Configuring resources by pattern.
extension HTTPResourceService {
    /// Changes the configuration of all resources that a pattern selects.
    ///
    /// ```swift
    /// try service.configure("/users/*") { $0.expiration = .seconds(300) }
    /// let quick = try service.configure("/prices", methods: [.get], name: "prices") { $0.expiration = .seconds(1) }
    /// quick.remove()
    /// ```
    ///
    /// All blocks that match are applied, in the order in which they were added, so a later one wins. The result is
    /// computed when a resource needs it for the first time, and kept until a block is added or removed,
    /// ``reconfigure()`` is called, or the environment changes. Creating a resource computes nothing. The freshness of
    /// content that is there already does not change.
    ///
    /// The service holds the closure, and its resources hold what it has set. One that holds the service or a resource
    /// keeps both alive. Decorators and rules receive the resource for this reason.
    ///
    /// - Parameters:
    ///   - pattern: Selects the resources.
    ///   - methods: The methods of the requests; `nil` means all. Loads use GET, and so does freshness.
    ///   - name: A name for ``AnyResource/configurationNames(for:)``.
    ///   - change: Changes the configuration. It is called on any thread, without a lock, and must not use the network.
    ///     The first call is made at once, with the defaults, to check what it does.
    /// - Returns: The block, with which it can be removed. It stays if the token is dropped.
    /// - Throws: `invalidRequest` if the pattern is malformed, if a stage occurs twice in the order of the pipeline, if a
    ///   cache at `raw` would store what the data-request service stores too, or if there are 1,024 blocks already.
    @discardableResult
    public func configure(
        _ pattern: ResourcePattern, methods: Set<HTTPRequest.Method>? = nil, name: String? = nil,
        _ change: @escaping @Sendable (inout ResourceConfiguration) -> Void
    ) throws(RequestFailure) -> ConfigurationBlock {
        if let problem = pattern.problem { throw problem }
        var trial = configuration.defaults
        change(&trial)
        if let problem = trial.pipeline.problem { throw problem }
        if let problem = EntityCacheRules.problem(of: trial, caching.standard, over: requests) { throw problem }
        adoptEnvironment()
        guard let number = configurations.add(.init(pattern, methods, name, change)) else {
            throw RequestFailure(
                .invalidRequest, "There are \(ConfigurationStore.maximumBlocks) blocks of configuration already.",
                remedy: "Remove blocks that are not needed, or write patterns that select more resources.")
        }
        if trial.refresh != nil { polling.attach(self) }
        reconfigurePolling()
        return ConfigurationBlock(store: configurations, polling: polling, number: number, name: name)
    }

    /// Lets the configuration of all resources be computed again at its next use, because something has changed that the
    /// blocks read.
    public func reconfigure() {
        configurations.expire()
        reconfigurePolling()
    }

    /// The configuration of a resource for a method, which is computed if it is not kept.
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

/// A block of configuration that was added to a service.
///
/// ```swift
/// let block = try service.configure("/prices") { $0.expiration = .seconds(1) }
/// block.remove()
/// ```
public struct ConfigurationBlock: Sendable {
    let store: ConfigurationStore
    let polling: PollingTimer
    let number: UInt64
    /// The name that was given to it.
    public let name: String?

    /// Removes the block. Removing it again does nothing.
    public func remove() {
        store.remove(number)
        polling.service?.reconfigurePolling()
    }
}

extension AnyResource {
    /// The configuration that requests of a method have, computed from all blocks that match the resource.
    public func configuration(for method: HTTPRequest.Method = .get) -> ResourceConfiguration {
        service.adoptEnvironment()
        return service.effective(for: core, method).values
    }

    /// The names of the blocks of configuration that match the resource, in the order in which they apply.
    public func configurationNames(for method: HTTPRequest.Method = .get) -> [String] {
        service.adoptEnvironment()
        return service.effective(for: core, method).names
    }
}

extension Resource {
    /// The configuration that requests of a method have; see ``AnyResource/configuration(for:)``.
    public func configuration(for method: HTTPRequest.Method = .get) -> ResourceConfiguration {
        any.configuration(for: method)
    }
}

extension ResourceCore {
    /// The kept configuration for a method, if it has the version.
    func configuration(_ method: HTTPRequest.Method, _ version: UInt64) -> EffectiveConfiguration? {
        contents.withLock { contents in
            for kept in contents.configurations where kept.version == version && kept.method == method { return kept }
            return nil
        }
    }

    /// Keeps a configuration for a method. Those of earlier versions are dropped.
    func keep(_ configuration: EffectiveConfiguration) {
        let replaced = contents.withLock { contents in
            let replaced = contents.configurations
            contents.configurations.removeAll {
                $0.version != configuration.version || $0.method == configuration.method
            }
            // There are few methods; the limit is for programs that make up names.
            guard contents.configurations.count < 8 else { return replaced }
            // That of loads comes first.
            let index = configuration.method == .get ? 0 : contents.configurations.count
            contents.configurations.insert(configuration, at: index)
            return replaced
        }
        // Closures of removed blocks may end here, outside the lock, with what they hold.
        _ = consume replaced
    }
}
