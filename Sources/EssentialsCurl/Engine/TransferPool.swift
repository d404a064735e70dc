import CEssentials

/// Transfers that wait for their next request. Their handles keep libcurl's options and buffers.
struct TransferPool {
    /// More than this are destroyed instead of kept.
    private static let maximum = 256

    private var idle: [OpaquePointer] = []
    /// Idle ones whose handle is to be replaced before it may carry a request.
    private var spent: [OpaquePointer] = []

    mutating func take() -> OpaquePointer? { idle.popLast() ?? spent.popLast() ?? ce_transfer_create() }

    mutating func give(_ transfer: OpaquePointer) {
        ce_transfer_set_owner(transfer, nil)
        guard ce_transfer_rest(transfer), idle.count + spent.count < Self.maximum else {
            return ce_transfer_destroy(transfer)
        }
        if ce_transfer_is_spent(transfer) { spent.append(transfer) } else { idle.append(transfer) }
    }

    /// Replaces spent handles: called when nobody waits for the thread, because it takes some microseconds for each.
    mutating func refresh() {
        while let transfer = spent.popLast() {
            if ce_transfer_refresh(transfer) { idle.append(transfer) } else { ce_transfer_destroy(transfer) }
        }
    }

    /// Gets rid of a transfer whose options are in doubt.
    func discard(_ transfer: OpaquePointer) { ce_transfer_destroy(transfer) }

    mutating func destroyAll() {
        for transfer in idle + spent { ce_transfer_destroy(transfer) }
        idle = []
        spent = []
    }
}
