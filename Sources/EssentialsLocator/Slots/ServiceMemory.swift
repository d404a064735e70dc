/// Memory on the stack for one service, filled by somebody who does not know its type.
///
/// Inlined into the caller's module, where the type is known: what is generic looks up metadata at each use.
@usableFromInline
enum ServiceMemory {
    /// The service that `fill` puts into the memory; nil if it says that it did not.
    @inlinable @inline(__always)
    static func fill<Service>(
        _ type: Service.Type, _ fill: (UnsafeMutableRawPointer) throws(ServiceLocatorError) -> Bool
    ) throws(ServiceLocatorError) -> Service? {
        // The allocating function passes on errors without their type, so the error goes round it.
        var failure: ServiceLocatorError?
        let service = withUnsafeTemporaryAllocation(of: type, capacity: 1) { memory -> Service? in
            // One element was asked for, so there is an address.
            guard let address = memory.baseAddress else { return nil }
            do throws(ServiceLocatorError) {
                return try fill(UnsafeMutableRawPointer(address)) ? address.move() : nil
            } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        return service
    }
}
