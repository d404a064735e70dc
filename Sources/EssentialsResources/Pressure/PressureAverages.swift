import EssentialsHTTP
import Glibc

/// The averages of pressure stall information over the last 10 s, for kernels that refuse to report by themselves.
struct PressureAverages: Sendable, Equatable {
    /// How often they are read.
    static let interval = Duration.seconds(10)

    /// The time in which some threads waited for memory, in hundredths of a percent.
    var some = 0
    /// The time in which all threads waited, in hundredths of a percent.
    var full = 0

    /// Reads the bytes of a file like `/proc/pressure/memory`. Malformed and unknown lines are ignored.
    ///
    /// - Returns: `nil` if no valid line is left.
    init?(_ bytes: some Sequence<UInt8>) {
        var isEmpty = true
        for line in Array(bytes).split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard let kind = words.first, let average = words.dropFirst().lazy.compactMap(Self.average).first else {
                continue
            }
            if kind.elementsEqual("some".utf8) {
                some = average
            } else if kind.elementsEqual("full".utf8) {
                full = average
            } else {
                continue
            }
            isEmpty = false
        }
        if isEmpty { return nil }
    }

    /// The pressure by the limits of ``PressureFiles/low`` and ``PressureFiles/critical``: 70 ms of 2 s are 3.5 %, and
    /// 100 ms are 5 %. It is `nil` below both.
    var pressure: MemoryPressure? {
        if full >= 500 { return .critical }
        return some >= 350 ? .low : nil
    }

    /// The value of a word like `avg10=3.50`, in hundredths; `nil` for other words.
    private static func average(_ word: ArraySlice<UInt8>) -> Int? {
        let name = "avg10=".utf8
        guard word.starts(with: name) else { return nil }
        let parts = word.dropFirst(name.count).split(
            separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        // The kernel writes two digits after the point, and at most three before it.
        guard let whole = number(parts[0], upTo: 3) else { return nil }
        guard parts.count == 2 else { return whole * 100 }
        guard parts[1].count == 2, let hundredths = number(parts[1], upTo: 2) else { return nil }
        return whole * 100 + hundredths
    }

    private static func number(_ digits: ArraySlice<UInt8>, upTo count: Int) -> Int? {
        guard !digits.isEmpty, digits.count <= count else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}

// MARK: - Files

extension PressureAverages {
    /// Reads a file; `nil` if it cannot be read, or has no averages.
    init?(file: String) {
        let number = open(file, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        defer { close(number) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(number, &bytes, bytes.count)
        self.init(bytes.prefix(max(count, 0)))
    }

    /// Reads a file regularly and reports its pressure, until the task is cancelled.
    ///
    /// A missing file, such as that of a removed control group, reports nothing.
    static func follow(
        _ file: String, _ clock: RequestClock, _ report: @escaping @Sendable (MemoryPressure) -> Void
    ) -> Task<Void, Never> {
        Task {
            while (try? await clock.sleep(for: interval)) != nil, !Task.isCancelled {
                if let pressure = PressureAverages(file: file)?.pressure { report(pressure) }
            }
        }
    }
}
