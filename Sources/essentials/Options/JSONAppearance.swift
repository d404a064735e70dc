import ArgumentParser
import EssentialsTools
import ServiceEssentials

/// The appearance of JSON on standard output.
struct JSONAppearance {
    /// The values of `--pretty`.
    enum Pretty: String, ExpressibleByArgument, CaseIterable {
        case all, format, colors
        /// Neither. It is not named `none`, because an optional would take that for `nil`.
        case plain = "none"
    }

    /// The values of `--color`.
    enum Color: String, ExpressibleByArgument, CaseIterable {
        case auto, always, never
    }

    let pretty: Pretty?
    let color: Color

    func formats(isTerminal: Bool) -> Bool {
        pretty.map { $0 == .all || $0 == .format } ?? isTerminal
    }

    func colors(isTerminal: Bool) -> Bool {
        guard pretty != .plain, pretty != .format else { return false }
        switch color {
        case .always: return true
        case .never: return false
        case .auto: return Self.wantsColor(isTerminal: isTerminal) { getenv($0).map { String(cString: $0) } }
        }
    }

    /// Whether `--color auto` uses colors.
    ///
    /// - Parameter variable: Returns the value of an environment variable.
    static func wantsColor(isTerminal: Bool, variable: (String) -> String?) -> Bool {
        if let value = variable("NO_COLOR"), !value.isEmpty { return false }
        if let value = variable("CLICOLOR_FORCE"), !value.isEmpty, value != "0" { return true }
        return isTerminal && variable("CLICOLOR") != "0" && variable("TERM") != "dumb"
    }
}
