import CEssentials

/// Idle transfers that can be reused. Their handles keep options and buffers of libcurl.
struct TransferPool {
    /// The maximum number of kept transfers. Further ones are destroyed.
    static let maximum = 256

    private var idle: [OpaquePointer] = []

    mutating func take() -> OpaquePointer? { idle.popLast() ?? ce_transfer_create() }

    mutating func give(_ transfer: OpaquePointer) {
        ce_transfer_set_owner(transfer, nil)
        guard ce_transfer_rest(transfer), idle.count < Self.maximum else {
            return ce_transfer_destroy(transfer)
        }
        idle.append(transfer)
    }

    /// Destroys a transfer whose options are unknown.
    func discard(_ transfer: OpaquePointer) { ce_transfer_destroy(transfer) }

    mutating func destroyAll() {
        for transfer in idle { ce_transfer_destroy(transfer) }
        idle = []
    }
}
