import ServiceEssentials
import Testing

/// Numbers at the ends of all ranges, and beyond those that make sense.
enum Extremes {
    static let counts: [Int] = [.min, -1, 0, 1, .max]
    static let times: [Duration] = [
        Duration(attoseconds: .min), .seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1), .seconds(Int64.max),
        Duration(attoseconds: .max),
    ]
    static let numbers: [Double] = [
        -.infinity, -1, 0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, .nan,
    ]

    /// The number of a value's stored properties that are numbers or times.
    static func numberCount(of value: Any) -> Int {
        Mirror(reflecting: value).children.count { child in
            let type = type(of: child.value)
            return [
                Int.self, Int?.self, Int64.self, Int64?.self, Double.self, Double?.self, Duration.self, Duration?.self,
            ].contains { $0 == type }
        }
    }
}

/// Configurations of which each has one extreme value.
struct Variants<Root> {
    let root: Root
    private(set) var all: [Root] = []
    /// The number of properties that were varied.
    private(set) var propertyCount = 0

    init(_ root: Root) { self.root = root }

    private func varied<Value>(_ paths: [WritableKeyPath<Root, Value>], _ values: [Value]) -> Variants {
        var variants = self
        variants.propertyCount += paths.count
        for path in paths {
            for value in values {
                var changed = root
                changed[keyPath: path] = value
                variants.all.append(changed)
            }
        }
        return variants
    }

    func counts(_ paths: WritableKeyPath<Root, Int>...) -> Variants { varied(paths, Extremes.counts) }

    func counts(_ paths: WritableKeyPath<Root, Int?>...) -> Variants { varied(paths, Extremes.counts + [nil]) }

    func times(_ paths: WritableKeyPath<Root, Duration>...) -> Variants { varied(paths, Extremes.times) }

    func times(_ paths: WritableKeyPath<Root, Duration?>...) -> Variants { varied(paths, Extremes.times + [nil]) }

    func numbers(_ paths: WritableKeyPath<Root, Double>...) -> Variants { varied(paths, Extremes.numbers) }

    /// Checks that no number of the configuration was left out, and returns the variants.
    func whole(at location: SourceLocation = #_sourceLocation) -> [Root] {
        #expect(propertyCount == Extremes.numberCount(of: root), sourceLocation: location)
        return all
    }
}
