import EssentialsHTTP
import EssentialsRequests

/// The environment, the credentials and the account of an iteration, a write or a read of a service. It is taken once
/// at the beginning, so that the request, the key, the saves and the deletions belong together, even if something
/// changes meanwhile.
final class FetchOperation: Sendable {
    /// The environment and the credentials; `nil` for a test double, which has neither.
    let context: OperationContext?
    /// The account of the service.
    let partition: EntityPartition
    /// The text of the environment in keys.
    let environment: String
    let schema: UInt32
    /// The cache of the service.
    let cache: (any AsyncCache)?

    private init(
        _ context: OperationContext?, _ cache: (any AsyncCache)?, partition: EntityPartition = .shared,
        environment: String = "", schema: UInt32 = 0
    ) {
        (self.context, self.cache) = (context, cache)
        (self.partition, self.environment, self.schema) = (partition, environment, schema)
    }

    /// How often the beginning is repeated while the environment or the credentials change.
    private static let attempts = 8

    /// Begins an operation.
    ///
    /// - Parameter hasKeys: Whether the operation uses keys. If not, the text of the environment is empty.
    static func begin(_ service: some FetchingService, hasKeys: Bool) -> FetchOperation {
        let requests = service.requests
        // The context comes first, so that a removal counts as later if it happens while the names are read.
        var context = requests.beginOperation()
        let cache = service.modelCache
        guard hasKeys else { return FetchOperation(context, cache, partition: service.partition) }
        var attempt = 1
        while true {
            let (name, partition, schema) = (service.environmentName, service.partition, service.schemaVersion)
            guard let begun = context else {
                return FetchOperation(nil, cache, partition: partition, environment: name, schema: schema)
            }
            guard attempt == attempts || isWhole(begun, name, requests) else {
                attempt += 1
                context = requests.beginOperation()
                continue
            }
            let text = text(of: name, in: begun.environment, key: cache?.fingerprintKey ?? .process)
            cache?.joinService(of: requests, begun.scope.origin, environment: text)
            // From here on the account counts as used with these credentials, so that other credentials suspend it.
            _ = begun.admits(partition)
            return FetchOperation(begun, cache, partition: partition, environment: text, schema: schema)
        }
    }

    /// Whether the name and the account were read while the environment and the credentials were the current ones.
    private static func isWhole(
        _ context: OperationContext, _ name: String, _ requests: any DataRequestService
    ) -> Bool {
        guard !context.hasEnded else { return false }
        if name == context.environment.snapshot.baseURL.description { return true }
        return requests.beginOperation()?.environment === context.environment
    }

    /// The text of an environment in keys: only the name, if nothing else distinguishes the environment from others.
    /// Otherwise the name of the snapshot, the fingerprint of the trust policy and a hash of the header fields are
    /// added. Different environments have different texts.
    ///
    /// - Parameter name: The name that the service gives to the environment. If it is not the base URL, it also stands
    ///   for the name of the snapshot.
    static func text(
        of name: String, in identity: EnvironmentIdentity, key: @autoclosure () -> FingerprintKey
    ) -> String {
        let snapshot = identity.snapshot
        let label = name == snapshot.baseURL.description ? snapshot.name : ""
        let trust = identity.trustFingerprint
        var whole = name
        // The mark shows that each part has its length, so a name that contains the mark gets lengths too.
        if !label.isEmpty || !trust.isEmpty || name.utf8.contains(1) {
            whole = "\u{1}"
            for part in [name, label, trust] { whole += "\(part.utf8.count):\(part)" }
        }
        return identity.text(whole, key: key())
    }

    // MARK: Keys

    /// The key of a request's model.
    func key(_ parts: FetchKeyRules.Parts) -> FetchKey {
        let variant = parts.variant(key: cache?.fingerprintKey ?? .process)
        return key(parts.name, variant: variant)
    }

    /// A key with a name of the caller.
    func key(_ name: String, variant: String) -> FetchKey {
        FetchKey(
            name: name, variant: variant, partition: partition, environment: environment, schema: schema,
            followsService: true)
    }

    /// A given key. If a service has made it, it is changed to the partition and the environment of the operation.
    func key(_ given: FetchKey) -> FetchKey {
        given.followsService ? key(given.name, variant: given.variant) : given
    }

    // MARK: Stores

    /// Whether models of an account may be read, stored and deleted. After the credentials were cleared or replaced,
    /// this is not allowed.
    func permits(_ partition: EntityPartition) -> Bool {
        guard let context else { return true }
        return !context.hasEnded && context.admits(partition)
    }

    /// Whether the credentials with which the operation began were cleared or replaced.
    var isForFormerCredentials: Bool { context.map { $0.scope.hasCredentials && $0.hasEnded } ?? false }

    /// Whether values that the operation has received may be shared with another operation; `nil` is that of a test
    /// double.
    ///
    /// - Parameter mayBePersonal: Whether they may have been received with credentials. After credentials were cleared
    ///   or replaced, such values are not shared.
    func isOpen(to reader: FetchOperation?, mayBePersonal: Bool) -> Bool {
        guard let reader else { return true }
        guard partition == reader.partition, partition.isShared || permits(partition) else { return false }
        guard let context, let place = reader.context?.environment else { return environment == reader.environment }
        guard context.environment.isSame(as: place) else { return false }
        // The reader may have begun for another account before the fetch began.
        return !(mayBePersonal && (context.hasAnySessionEnded || reader.context?.hasAnySessionEnded == true))
    }

    /// Whether the server identifies the application, and so perhaps an account, by a certificate of the environment.
    var hasClientIdentity: Bool { context?.environment.snapshot.trust?.identity != nil }

    /// Whether the requests of the operation have credentials.
    var hasCredentials: Bool { context?.scope.hasCredentials ?? false }

    /// The provenance of a model that the operation has received.
    ///
    /// - Parameter isPersonal: Whether it was received with credentials and without an account.
    func provenance(isPersonal: Bool) -> ModelProvenance? {
        context.map {
            ModelProvenance(begun: $0.begun, credentials: isPersonal ? $0.scope.origin : nil, scope: $0.scope)
        }
    }
}

extension FetchingService {
    /// Begins an iteration, a write or a read of this service.
    func beginFetch(hasKeys: Bool = true) -> FetchOperation { FetchOperation.begin(self, hasKeys: hasKeys) }
}

extension AsyncCache {
    /// Makes a ``ModelCache`` join the service that sends the requests, so that it is cleared with the credentials.
    fileprivate func joinService(of requests: any DataRequestService, _ origin: Origin, environment: String) {
        if let models = self as? ModelCache {
            models.join(requests, origin, environment: environment)
        } else if let observed = self as? ObservedCache {
            observed.wrapped.joinService(of: requests, origin, environment: environment)
        }
    }
}
