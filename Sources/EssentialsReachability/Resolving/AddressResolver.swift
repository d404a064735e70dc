import EssentialsTools

/// Resolves host names. A custom resolver can use DNS over HTTPS, or a table in a test.
///
/// ```swift
/// struct Table: AddressResolver {
///     let addresses: [String: [NetworkAddress]]
///     func addresses(of name: String) async throws -> [NetworkAddress] { addresses[name] ?? [] }
/// }
/// ```
public protocol AddressResolver: Sendable {
    /// The addresses of a name, the preferred ones first. An empty result and every error mean that the name is not
    /// resolved.
    ///
    /// The task is cancelled when the result is no longer needed.
    func addresses(of name: String) async throws -> [NetworkAddress]
}

/// The system's resolver: getaddrinfo(3), which uses `/etc/hosts` and every other configured source.
///
/// Each lookup runs on its own thread, because it can block for a long time. It cannot be cancelled: a lookup whose
/// result is no longer needed runs to its end. At most 16 lookups run at a time; further ones fail.
public struct SystemAddressResolver: AddressResolver {
    /// The maximum number of concurrent lookups in a process.
    static let limit = 16
    private static let running = Mutex(0)

    /// Creates a resolver. All instances are equivalent.
    public init() {}

    /// The addresses of a name in the order of RFC 6724.
    ///
    /// - Throws: ``ReachabilityError/Reason/resolution`` with the resolver's reason, or
    ///   ``ReachabilityError/Reason/system`` if no thread could be created.
    public func addresses(of name: String) async throws -> [NetworkAddress] {
        guard Self.enter() else {
            throw ReachabilityError(
                .resolution, "\(Self.limit) names are already being resolved.", remedy: "Track fewer hosts.")
        }
        let result = await withCheckedContinuation { continuation in
            do throws(SystemThread.Failure) {
                try SystemThread(named: "essentials-name") {
                    let result = Self.lookUp(name)
                    Self.leave()
                    continuation.resume(returning: result)
                }.detach()
            } catch {
                Self.leave()
                let what = "The system could not create a thread to resolve a name"
                continuation.resume(returning: .failure(ReachabilityError.system(what, code: error.code)))
            }
        }
        return try result.get()
    }

    private static func enter() -> Bool {
        running.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    private static func leave() { running.withLock { $0 -= 1 } }

    /// Resolves a name. It blocks the calling thread.
    static func lookUp(_ name: String) -> Result<[NetworkAddress], ReachabilityError> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        // One entry for each address, instead of one for each socket type.
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &first)
        guard code == 0 else {
            return .failure(
                ReachabilityError(
                    .resolution, "“\(name)” could not be resolved: \(String(cString: gai_strerror(code))).",
                    remedy: "Check the name, and the system's name servers."))
        }
        defer { freeaddrinfo(first) }
        var addresses: [NetworkAddress] = []
        var entry = first
        while let info = entry?.pointee, addresses.count < ReachabilityTarget.maximumAddresses {
            if let found = info.ai_addr, let address = NetworkAddress(found, size: Int(info.ai_addrlen)) {
                addresses.append(address)
            }
            entry = info.ai_next
        }
        return .success(addresses)
    }
}
