import EssentialsTools

/// A factory that the calling thread is running, and the factory that runs it in turn.
///
/// Frames are on the stack of their thread and linked through thread-local storage, so that tracking what a thread
/// builds needs no allocation. Another thread may follow the links only while the frame's thread is blocked in
/// ``ConstructionLedger``, whose lock keeps it there.
struct BuildFrame {
    /// The registration whose factory runs. The caller that runs the factory retains it.
    let slot: Unmanaged<Slot>
    /// The locator of the registration. The caller retains it too.
    let owner: Unmanaged<ServiceLocator>
    let previous: UnsafePointer<BuildFrame>?

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        // Fails only if the process has used up its keys, 1,024 on Linux. Every pointer is then `nil`.
        pthread_key_create(&key, nil)
        return key
    }()

    /// The innermost factory that this thread runs, or `nil`.
    static var current: UnsafePointer<BuildFrame>? {
        pthread_getspecific(key).map { UnsafePointer($0.assumingMemoryBound(to: BuildFrame.self)) }
    }

    /// Runs a factory in a new frame inside the current one.
    @inline(__always)
    static func run(
        _ slot: Slot, owner: ServiceLocator, inside previous: UnsafePointer<BuildFrame>?, _ body: () throws -> Void
    ) rethrows {
        let frame = BuildFrame(slot: .passUnretained(slot), owner: .passUnretained(owner), previous: previous)
        try withUnsafePointer(to: frame) { pointer in
            pthread_setspecific(key, pointer)
            defer { pthread_setspecific(key, previous) }
            try body()
        }
    }

    /// The labels from the frame of `slot` to the innermost frame `top`, or `nil` if no frame has the slot.
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

/// The number of running factories whose resolves are recorded for graphs.
///
/// Relaxed ordering is enough, because the number only decides whether a resolve looks for the factory that it is part
/// of. A resolve inside a factory sees at least that factory's increment, which came before it on the same thread or
/// before the work that resolves was started. Any other resolve finds no factory, whatever number it reads.
let tracedFactories = Atomic<Int>(0)

/// Whether resolves are recorded here: this thread or task is part of a running factory.
var resolvesAreRecorded: Bool {
    guard tracedFactories.load(ordering: .relaxed) != 0 else { return false }
    return BuildFrame.current != nil || AsyncAttempt.current != nil
}
