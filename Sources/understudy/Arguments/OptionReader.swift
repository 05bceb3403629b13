import CGetopt
import Glibc
import Synchronization

/// Reads one argument list with `getopt_long`, against a list of options.
struct OptionReader {
    /// What a list holds, in order.
    enum Item: Equatable {
        /// An option; the value is nil for a switch.
        case option(name: String, value: String?)
        /// A plain argument.
        case plain(String)
    }

    /// What is wrong with a list.
    enum Fault: Error, Equatable {
        case unknownOption(String)
        case missingValue(String)
        case unwantedValue(String)
    }

    /// getopt_long keeps its place in global variables: one list at a time.
    private static let turn = Mutex<Void>(())

    /// Long options are numbered from here, beyond every letter.
    private static let firstNumber: Int32 = 256

    private let options: [OptionSpec]

    init(_ options: [OptionSpec]) { self.options = options }

    /// Reads a whole list.
    ///
    /// - Parameter stopAtPlain: ends before the first plain argument, which the caller knows as a command.
    /// - Returns: what was found, and how many elements of the list were read.
    func read(_ list: [String], stopAtPlain: Bool) throws(Fault) -> (items: [Item], count: Int) {
        let vector = ArgumentVector(["understudy"] + list)
        let names = LongOptions(options, from: Self.firstNumber)
        let result = Self.turn.withLock { _ in
            Result { () throws(Fault) in try scan(vector, names, stopAtPlain: stopAtPlain) }
        }
        return try result.get()
    }

    private func scan(_ vector: ArgumentVector, _ names: LongOptions, stopAtPlain: Bool) throws(Fault) -> (
        items: [Item], count: Int
    ) {
        // "-" answers plain arguments in their place, "+" stops at the first; ":" tells a missing value apart.
        let letters = (stopAtPlain ? "+:" : "-:") + shortOptions
        var items: [Item] = []
        getopt_restart()
        while true {
            let step = getopt_next(vector.count, vector.pointers, letters, names.table)
            let text = step.argument.map { String(cString: $0) }
            switch step.found {
            case -1:
                let rest = Int(step.next)
                if !stopAtPlain { items += vector.texts[rest...].map(Item.plain) }
                return (items, rest - 1)
            case 1:
                items.append(.plain(text ?? ""))
            case Int32(UInt8(ascii: ":")):
                throw .missingValue(spelling(of: step.unrecognised))
            case Int32(UInt8(ascii: "?")):
                throw fault(step, vector)
            default:
                guard let option = option(numbered: step.found) else { preconditionFailure("a number we never gave") }
                try refuseAbbreviation(option, step, vector)
                items.append(.option(name: option.name, value: text))
            }
        }
    }

    private func fault(_ step: getopt_step, _ vector: ArgumentVector) -> Fault {
        guard step.unrecognised != 0 else {
            let element = vector.texts[max(1, Int(step.next) - 1)]
            return .unknownOption(String(element.prefix { $0 != "=" }))
        }
        if let option = option(numbered: step.unrecognised) { return .unwantedValue("--\(option.name)") }
        return .unknownOption(spelling(of: step.unrecognised))
    }

    /// getopt_long takes `--dev` for `--device`; a script that relies on it breaks with the next new option.
    private func refuseAbbreviation(_ option: OptionSpec, _ step: getopt_step, _ vector: ArgumentVector) throws(Fault) {
        guard step.found >= Self.firstNumber else { return }
        let next = Int(step.next)
        let valueStandsAlone = step.argument != nil && step.argument == UnsafePointer(vector.pointers[next - 1])
        let written = vector.texts[valueStandsAlone ? next - 2 : next - 1].prefix { $0 != "=" }
        if written != "--\(option.name)" { throw .unknownOption(String(written)) }
    }

    private var shortOptions: String {
        options.compactMap { option in
            option.letter.map { String($0) + (option.value == nil ? "" : ":") }
        }.joined()
    }

    private func option(numbered number: Int32) -> OptionSpec? {
        let index = Int(number - Self.firstNumber)
        if options.indices.contains(index) { return options[index] }
        return options.first { $0.letter?.asciiValue.map(Int32.init) == number }
    }

    private func spelling(of number: Int32) -> String {
        let index = Int(number - Self.firstNumber)
        if options.indices.contains(index) { return "--\(options[index].name)" }
        return "-" + String(UnicodeScalar(UInt8(truncatingIfNeeded: number)))
    }
}

/// A C argument list that lives as long as this object.
private final class ArgumentVector {
    let texts: [String]
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ texts: [String]) {
        self.texts = texts
        pointers = texts.map { strdup($0) } + [nil]
    }

    var count: Int32 { Int32(texts.count) }

    deinit { pointers.forEach { free($0) } }
}

/// The table of long options for C, alive as long as this object.
private final class LongOptions {
    let table: [option]

    init(_ options: [OptionSpec], from first: Int32) {
        var table = options.enumerated().map { index, spec in
            option(
                name: strdup(spec.name), has_arg: spec.value == nil ? no_argument : required_argument, flag: nil,
                val: first + Int32(index))
        }
        table.append(option())
        self.table = table
    }

    deinit { table.forEach { free(UnsafeMutablePointer(mutating: $0.name)) } }
}
