import EssentialsHTTP
import Glibc

/// Finds out how the kernel tells about memory pressure, and opens what is needed for it.
struct PressureSetup: Sendable {
    /// What was found.
    struct Found {
        /// Descriptors that report by themselves.
        var descriptors: [PressureDescriptor] = []
        /// The file whose averages are to be read; `nil` if the kernel reports by itself.
        var averages: String?
    }

    /// The directory of the own control group; `nil` if there is none.
    let directory: String?
    /// The file for the whole system.
    var system = PressureFiles.system
    /// Says when averages are read.
    var clock = RequestClock.system
    /// Asks for reports and returns the descriptor for them.
    var ask: @Sendable (_ trigger: String, _ file: String) throws(SystemError) -> Int32 = Self.kernel

    /// The files with pressure stall information, the own control group's first.
    private var files: [String] { (directory.map { [$0 + "/memory.pressure"] } ?? []) + [system] }

    /// Asks for reports. If they are refused, the averages are to be read.
    ///
    /// - Throws: `resources` if there is neither.
    func open() throws(RequestFailure) -> Found {
        var found = Found()
        var refusal: SystemError?
        for file in files {
            do throws(SystemError) {
                found.descriptors = try descriptors(for: file)
                break
            } catch {
                // That of the own control group says nothing if it has no such file.
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
        // The kernel wants the zero at the end as well.
        let written = trigger.withCString { write(number, $0, strlen($0) + 1) }
        guard written > 0 else {
            let error = SystemError.last
            close(number)
            throw error
        }
        return number
    }
}
