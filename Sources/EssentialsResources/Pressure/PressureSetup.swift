import EssentialsHTTP
import Glibc

/// Finds out how the kernel reports memory pressure, and opens the necessary files.
struct PressureSetup: Sendable {
    /// The sources that were found.
    struct Found {
        /// Descriptors that report by themselves.
        var descriptors: [PressureDescriptor] = []
        /// The file whose averages are read; `nil` if the kernel reports by itself.
        var averages: String?
    }

    /// The directory of the process's own control group; `nil` if there is none.
    let directory: String?
    /// The file for the whole system.
    var system = PressureFiles.system
    /// The clock for reading averages.
    var clock = RequestClock.system
    /// Requests reports and returns the descriptor for them.
    var ask: @Sendable (_ trigger: String, _ file: String) throws(SystemError) -> Int32 = Self.kernel

    /// The files with pressure stall information. The file of the process's own control group comes first.
    private var files: [String] { (directory.map { [$0 + "/memory.pressure"] } ?? []) + [system] }

    /// Requests reports. If they are refused, averages are read instead.
    ///
    /// - Throws: `resources` if neither is available.
    func open() throws(RequestFailure) -> Found {
        var found = Found()
        var refusal: SystemError?
        for file in files {
            do throws(SystemError) {
                found.descriptors = try descriptors(for: file)
                break
            } catch {
                // The control group may have no such file, so a later refusal replaces an earlier one.
                refusal = error
            }
        }
        if found.descriptors.isEmpty {
            found.averages = files.first { PressureAverages(file: $0) != nil }
            guard found.averages != nil else {
                throw RequestFailure(
                    .resources, "The kernel does not tell about memory pressure\(refusal.map { ": \($0)" } ?? "").",
                    remedy: "Use ManualMemoryPressure, or a kernel with pressure stall information (PSI).",
                    underlying: refusal)
            }
        }
        if let directory {
            let number = Glibc.open(directory + "/memory.events", O_RDONLY | O_CLOEXEC)
            if number >= 0 { found.descriptors.append(PressureDescriptor(number: number, meaning: .events)) }
        }
        return found
    }

    private func descriptors(for file: String) throws(SystemError) -> [PressureDescriptor] {
        let low = try ask(PressureFiles.low, file)
        do throws(SystemError) {
            let critical = try ask(PressureFiles.critical, file)
            return [
                PressureDescriptor(number: low, meaning: .pressure(.low)),
                PressureDescriptor(number: critical, meaning: .pressure(.critical)),
            ]
        } catch {
            close(low)
            throw error
        }
    }

    @Sendable
    private static func kernel(_ trigger: String, _ file: String) throws(SystemError) -> Int32 {
        let number = Glibc.open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw .last }
        // The kernel requires the terminating zero as well.
        let written = trigger.withCString { write(number, $0, strlen($0) + 1) }
        guard written > 0 else {
            let error = SystemError.last
            close(number)
            throw error
        }
        return number
    }
}
