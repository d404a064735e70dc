import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A factory that the calling thread runs at this moment, and the one that runs it in turn.
///
/// Frames live on the stack of their thread and are linked by thread-local storage, so that knowing what a thread builds
/// costs two stores and no allocation. Another thread may follow the links only while the frame's thread is blocked in
/// ``ConstructionLedger``, whose lock keeps it there.
@usableFromInline
struct BuildFrame {
    /// Retained by the caller that runs its factory.
    let slot: Unmanaged<Slot>
    /// Retained likewise.
    let owner: Unmanaged<ServiceLocator>
    let previous: UnsafePointer<BuildFrame>?
    /// The locator that the factory receives. Retained likewise.
    @usableFromInline
    let receiver: Unmanaged<ServiceLocator>

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        // Fails only when a process has used up its keys, 1,024 on Linux; every pointer is then nil.
        pthread_key_create(&key, nil)
        return key
    }()

    /// The innermost factory that this thread runs; nil outside factories.
    static var current: UnsafePointer<BuildFrame>? {
        pthread_getspecific(key).map { UnsafePointer($0.assumingMemoryBound(to: BuildFrame.self)) }
    }

    /// Runs a factory in a frame of its own, inside the current one.
    @inline(__always)
    static func run(
        _ slot: Slot, owner: ServiceLocator, inside previous: UnsafePointer<BuildFrame>?, _ body: () throws -> Void
    ) rethrows {
        let frame = BuildFrame(
            slot: .passUnretained(slot), owner: .passUnretained(owner), previous: previous,
            receiver: .passUnretained(owner))
        try withUnsafePointer(to: frame) { pointer in
            enter(pointer)
            defer { leave(pointer) }
            try body()
        }
    }

    /// Makes the frame the innermost one of this thread until it is left.
    @usableFromInline
    static func enter(_ frame: UnsafePointer<BuildFrame>) { pthread_setspecific(key, frame) }

    @usableFromInline
    static func leave(_ frame: UnsafePointer<BuildFrame>) { pthread_setspecific(key, frame.pointee.previous) }

    /// The labels from the frame of `slot` to the innermost one, which `top` is; nil if `slot` is in none of them.
    static func labels(from slot: Slot, to top: UnsafePointer<BuildFrame>?) -> [String]? {
        var labels: [String] = []
        var next = top
        while let frame = next {
            let found = frame.pointee.slot.takeUnretainedValue()
            labels.append(found.label(in: frame.pointee.owner.takeUnretainedValue()))
            if found === slot { return labels.reversed() }
            next = frame.pointee.previous
        }
        return nil
    }
}

/// How many factories run whose resolves are noted. Resolving looks at it, so it is no part of anything bigger.
///
/// Relaxed everywhere. It hands nothing over: it only says whether a resolve looks for the factory that it is part of. One
/// that is part of a factory sees its count, which was added to before the factory began, on the same thread or before
/// the work was started that resolves. Any other finds no factory and notes nothing, whatever number it sees; an old one
/// costs it the longer way at most.
let tracedFactories = Atomic<Int>(0)

/// Whether what is resolved here is noted: a factory runs, and this thread or task is part of one.
var resolvesAreNoted: Bool {
    guard tracedFactories.load(ordering: .relaxed) != 0 else { return false }
    return BuildFrame.current != nil || AsyncAttempt.current != nil
}
