import ArgumentParser
import ServiceEssentials

/// `essentials store`
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Inspect, check, back up or restore the file of a persistence service.",
        discussion: """
            “info” prints what is known about the file: its size and its log, the process that owns it, the applied \
            migrations, how many rows each table has, and the backups beside it. “schema” prints the statements that made \
            its tables, or a diagram in the language of Mermaid. “rows” prints rows of a table in the order of the primary \
            key; no other action prints values. “check” reads all tables and indexes and looks for damage and for rows that \
            refer to missing ones. None of them changes the file or makes its owner wait.

            “backup” copies the store to a new file, while its owner goes on saving. “restore” puts a backup in the place of \
            the store. It is refused while a process owns the store and if the backup is damaged, and it keeps the present \
            file under a name that it prints.

            Values that are too long are cut, and then end in “…”. Bytes are printed as hexadecimal digits, and 16 bytes \
            as a UUID.

            With --format json, “schema” and “rows” print an object on each line, and the others print one object. In \
            “rows” a member is a column; bytes are an object with "hex" and "bytes", and a text that was cut is an object \
            with "text" and "bytes".

            EXAMPLES
              essentials store info shop.sqlite
              essentials store schema shop.sqlite --mermaid
              essentials store rows shop.sqlite film --limit 20 --format json
              essentials store check shop.sqlite
              essentials store backup shop.sqlite monday.sqlite
              essentials store restore shop.sqlite monday.sqlite

            EXIT CODES
              0 success, 1 “check” has found something or a file cannot be used, 64 wrong usage, an invalid value or an \
            unknown table, 69 the tool was built without persistence, 130 Ctrl-C, 141 closed output, 143 SIGTERM
            """)

    /// The values of the first argument.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case info, schema, rows, check, backup, restore
    }

    @Argument(help: "What to do.")
    var action: Action

    @Argument(help: "The file of the store.", completion: .file())
    var file: String

    @Argument(
        help: ArgumentHelp(
            "With rows: the table. With backup: the new file. With restore: the backup.",
            valueName: "table|target|backup"),
        completion: .file())
    var operand: String?

    @Flag(name: .customLong("mermaid"), help: "With schema: print a diagram with the tables and their foreign keys.")
    var printsDiagram = false

    @Option(
        name: .customLong("limit"),
        help: ArgumentHelp("With rows: the maximum number of rows. (default: 100)", valueName: "number"))
    var limit: Int?

    @Option(
        name: .customLong("offset"),
        help: ArgumentHelp("With rows: the number of rows to leave out first. (default: 0)", valueName: "number"))
    var offset: Int?

    @Flag(name: .customLong("force"), help: "With backup: replace a file that exists.")
    var overwrites = false

    @Option(name: .customLong("format"), help: "The output format.")
    var format = OutputFormat.text

    @OptionGroup(title: "Output") var errors: ErrorOptions

    /// The greatest value of `--limit`.
    static let rowLimit = 10_000

    func validate() throws {
        switch action {
        case .rows where operand == nil: throw ValidationError("“rows” needs the name of a table.")
        case .backup where operand == nil: throw ValidationError("“backup” needs the name of the new file.")
        case .restore where operand == nil: throw ValidationError("“restore” needs the name of a backup.")
        case .info, .schema, .check:
            if let operand {
                throw ValidationError("“\(action.rawValue)” takes one file, so “\(OneLine.text(operand))” is refused.")
            }
        default: break
        }
        if file.isEmpty || operand?.isEmpty == true { throw ValidationError("A name is empty.") }
        let options: [(name: String, isGiven: Bool, action: Action)] = [
            ("--mermaid", printsDiagram, .schema), ("--limit", limit != nil, .rows),
            ("--offset", offset != nil, .rows), ("--force", overwrites, .backup),
        ]
        for option in options where option.isGiven && option.action != action {
            throw ValidationError("\(option.name) has an effect on “\(option.action.rawValue)” only.")
        }
        if printsDiagram, format == .json { throw ValidationError("Give --mermaid or --format json, not both.") }
        if let limit, !(1...Self.rowLimit).contains(limit) {
            throw ValidationError("--limit is a number from 1 to \(Self.rowLimit).")
        }
        if let offset, offset < 0 { throw ValidationError("--offset is not negative.") }
    }

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            #if Persistence
                try await act()
            #else
                throw MissingTrait.failure
            #endif
        }
    }
}

/// The cause of the failure of commands that this build of the tool does not have.
struct MissingTrait: Error {
    /// The code EX_UNAVAILABLE of sysexits(3).
    static let exitCode: Int32 = 69

    /// The failure of a tool that was built without the trait `Persistence`.
    static var failure: RequestFailure {
        RequestFailure(
            .invalidRequest, "This tool was built without persistence.",
            remedy: "Build it with “swift build --traits Tool,Persistence --product essentials”.",
            underlying: MissingTrait())
    }
}
