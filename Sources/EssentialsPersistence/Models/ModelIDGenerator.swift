import EssentialsTools
import FoundationEssentials

/// Creates ids. The default uses the system's clock and random numbers.
///
/// A test that needs known ids supplies its own clock and bits:
///
/// ```swift
/// let generator = ModelIDGenerator(milliseconds: { 1_700_000_000_000 }, randomBits: { 7 })
/// ModelIDGenerator.$current.withValue(generator) {
///     print(Film(title: "M", year: 1931).id)           // the same in each run
/// }
/// ```
public final class ModelIDGenerator: Sendable {
    /// The generator of the system.
    public static let system = ModelIDGenerator(
        milliseconds: { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) },
        randomBits: { UInt64.random(in: .min ... .max) })

    /// The generator that `ModelID()` uses in this task. The default is ``system``.
    @TaskLocal public static var current = ModelIDGenerator.system

    private let milliseconds: @Sendable () -> Int64
    private let randomBits: @Sendable () -> UInt64
    private let machine = Mutex(ModelIDMachine())

    /// Creates a generator.
    ///
    /// - Parameters:
    ///   - milliseconds: Returns the time since 1970 in milliseconds. It may jump back; ids still ascend.
    ///   - randomBits: Returns 64 random bits. They must be hard to guess if the ids must be.
    public init(milliseconds: @escaping @Sendable () -> Int64, randomBits: @escaping @Sendable () -> UInt64) {
        self.milliseconds = milliseconds
        self.randomBits = randomBits
    }

    /// A new id, greater than all earlier ids of this generator.
    public func next<Model>() -> ModelID<Model> {
        let time = milliseconds()
        let (one, other) = (randomBits(), randomBits())
        let id = machine.withLock { $0.next(milliseconds: time, counterBits: one, randomBits: other) }
        return ModelID(high: id.high, low: id.low)
    }
}
