/// Lower bounds for the locator's operations, measured in the same run.
enum Floors {
    static let copy = "floor: existential copied out of memory"
    static let weakRead = "floor: weak reference read"
    static let object = "floor: object made and released"

    static let all = [
        Benchmark(name: copy) { operations in
            let shelf = Shelf(PlainService())
            return { copyOut(of: shelf.storage, times: operations) }
        },
        Benchmark(name: weakRead) { operations in
            let object = PlainService()
            let reference = WeakReference(object)
            return { withExtendedLifetime(object) { read(reference, times: operations) } }
        },
        Benchmark(name: object, operations: 50_000) { operations in
            { makeObjects(operations) }
        },
    ]

    /// Copies a service out of its storage, which every resolve must do: one retain, and a release by the caller.
    @inline(never)
    static func copyOut(of storage: UnsafeMutablePointer<any MeasuredService>, times: Int) {
        for _ in 0..<times {
            // Only `consume` could have changed the memory, but the optimizer does not know that it does not.
            consume(storage.pointee)
        }
    }

    @inline(never)
    private static func read(_ reference: WeakReference, times: Int) {
        for _ in 0..<times {
            consume(reference.object)
        }
    }

    @inline(never)
    static func makeObjects(_ count: Int) {
        for number in 0..<count {
            consume(PlainService(number: number))
        }
    }
}

/// Memory that holds one service, like the registration of a locator.
final class Shelf: @unchecked Sendable {
    // Written once, before the shelf is shared.
    let storage: UnsafeMutablePointer<any MeasuredService>

    init(_ service: any MeasuredService) {
        storage = .allocate(capacity: 1)
        storage.initialize(to: service)
    }

    deinit {
        storage.deinitialize(count: 1)
        storage.deallocate()
    }
}

private final class WeakReference {
    weak var object: AnyObject?

    init(_ object: AnyObject) {
        self.object = object
    }
}
