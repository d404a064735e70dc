public import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

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
    /// All matching blocks are applied in the order in which they were added, so a later block takes precedence. The
    /// result is computed when a resource first needs it, and kept until a block is added or removed, ``reconfigure()``
    /// is called, or the environment changes. Creating a resource computes nothing. The freshness of existing content
    /// does not change.
    ///
    /// The service holds the closure, and its resources hold the values that it has set. If these hold the service or a
    /// resource, they keep both alive. For this reason decorators and rules receive the resource as an argument.
    ///
    /// - Parameters:
    ///   - pattern: Selects the resources.
    ///   - methods: The methods of the requests; `nil` means all. Loads and freshness use GET.
    ///   - name: A name for ``AnyResource/configurationNames(for:)``.
    ///   - change: Changes the configuration. It is called on any thread, without a lock, and must not use the network.
    ///     The first call is made at once with the defaults, to check the result.
    /// - Returns: The block, by which it can be removed. Dropping the value does not remove the block.
    /// - Throws: `invalidRequest` if the pattern is malformed, if a stage occurs twice in the order of the pipeline, if
    ///   a cache at `raw` would store the same bytes as the data-request service, or if there are already 1,024 blocks.
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

    /// Makes the configuration of all resources be computed again at its next use. Call it after a change of values
    /// that the blocks read.
    public func reconfigure() {
        configurations.expire()
        reconfigurePolling()
    }

}

/// A configuration block that was added to a service.
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
    /// The configuration for requests with a method, computed from all blocks that match the resource.
    public func configuration(for method: HTTPRequest.Method = .get) -> ResourceConfiguration {
        service.adoptEnvironment()
        return service.effective(for: core, method).values
    }

    /// The names of the configuration blocks that match the resource, in the order in which they apply.
    public func configurationNames(for method: HTTPRequest.Method = .get) -> [String] {
        service.adoptEnvironment()
        return service.effective(for: core, method).names
    }
}

extension Resource {
    /// The configuration for requests with a method; see ``AnyResource/configuration(for:)``.
    public func configuration(for method: HTTPRequest.Method = .get) -> ResourceConfiguration {
        any.configuration(for: method)
    }
}
