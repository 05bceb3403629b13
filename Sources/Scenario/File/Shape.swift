import Encoding

/// What may stand at a place of a scenario file: read by the checker, and written out as the published JSON Schema, so
/// that the two cannot disagree.
indirect enum Shape: Sendable {
    /// A text; of these words where there are any.
    case text(words: [String] = [])
    /// A text of this form, said in words, with the regular expression the schema has for it.
    case form(String, pattern: String)
    /// A whole number within bounds.
    case number(ClosedRange<Int64>)
    /// A number from 0 to 1.
    case fraction
    /// True or false.
    case flag
    /// A list.
    case list(Shape)
    /// An object with these keys and no others.
    case object([Key])
    /// An object whose keys are names the author chooses.
    case map(Shape)
    /// Any of several shapes, told apart by the kind of value.
    case either([Shape])
    /// Anything: it is handed to the control API or to the management API, which checks it.
    case anything
    /// `null`.
    case nothing

    /// A key of an object.
    struct Key: Sendable {
        let name: String
        let shape: Shape
        let isRequired: Bool
        let help: String

        init(_ name: String, _ shape: Shape, required: Bool = false, _ help: String) {
            self.name = name
            self.shape = shape
            isRequired = required
            self.help = help
        }
    }
}

/// Compares a value with a shape and collects every fault.
struct ShapeCheck {
    /// More faults of one file than this are not listed.
    static let mostFaults = 50

    let file: String
    private(set) var faults: [FileFault] = []

    init(file: String) { self.file = file }

    mutating func check(_ value: JSON5Value, against shape: Shape, at path: String) {
        guard faults.count < Self.mostFaults else { return }
        switch shape {
        case .anything: break
        case .nothing: require(value.content == .null, value, path, "null")
        case .flag: require(value.bool != nil, value, path, "true or false")
        case .text(let words): text(value, of: words, path)
        case .form(let form, let pattern):
            let matches = value.string.map { (try? Regex(pattern).wholeMatch(in: $0)) ?? nil != nil } ?? false
            require(matches, value, path, form)
        case .number(let bounds):
            let isInBounds = value.int.map(bounds.contains) ?? false
            require(isInBounds, value, path, "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
        case .fraction: require(isFraction(value), value, path, "a number from 0 to 1")
        case .list(let shape):
            guard let elements = value.elements else { return fault(value, path, "a list") }
            for (index, element) in elements.enumerated() { check(element, against: shape, at: "\(path)[\(index)]") }
        case .map(let shape):
            guard let members = value.members else { return fault(value, path, "an object") }
            for member in members { check(member.value, against: shape, at: "\(path).\(member.name)") }
        case .object(let keys): object(value, keys, path)
        case .either(let shapes): either(value, shapes, path)
        }
    }

    private mutating func object(_ value: JSON5Value, _ keys: [Shape.Key], _ path: String) {
        guard let members = value.members else { return fault(value, path, "an object") }
        for member in members {
            if let key = keys.first(where: { $0.name == member.name }) {
                check(member.value, against: key.shape, at: path.isEmpty ? member.name : "\(path).\(member.name)")
            } else {
                unknown(member, of: keys.map(\.name), in: path)
            }
        }
        for key in keys where key.isRequired && value[key.name] == nil {
            add(value.place, "\(path.isEmpty ? "the file" : path) needs '\(key.name)': \(key.help)")
        }
    }

    private mutating func unknown(_ member: JSON5Value.Member, of names: [String], in path: String) {
        let hint = Nearest.match(member.name, among: names).map { ", did you mean '\($0)'" } ?? ""
        let known = names.prefix(40).joined(separator: ", ")
        add(
            member.place,
            "there is no '\(member.name.prefix(80))' in \(path.isEmpty ? "a scenario" : path)\(hint); known are \(known)"
        )
    }

    /// The first shape of the value's kind is the one that is meant.
    private mutating func either(_ value: JSON5Value, _ shapes: [Shape], _ path: String) {
        guard let shape = shapes.first(where: { $0.mayBe(value) }) else {
            return fault(value, path, shapes.map(\.words).joined(separator: ", or "))
        }
        check(value, against: shape, at: path)
    }

    private mutating func text(_ value: JSON5Value, of words: [String], _ path: String) {
        guard let text = value.string, !text.isEmpty else { return fault(value, path, "a text") }
        guard !words.isEmpty, !words.contains(text) else { return }
        let hint = Nearest.match(text, among: words).map { "; did you mean '\($0)'?" } ?? ""
        add(value.place, "\(path) must be one of \(words.joined(separator: ", ")), not '\(text.prefix(80))'\(hint)")
    }

    private func isFraction(_ value: JSON5Value) -> Bool {
        switch value.content {
        case .int(let number): (0...1).contains(number)
        case .double(let number): (0...1).contains(number)
        default: false
        }
    }

    private mutating func require(_ holds: Bool, _ value: JSON5Value, _ path: String, _ rule: String) {
        if !holds { fault(value, path, rule) }
    }

    private mutating func fault(_ value: JSON5Value, _ path: String, _ rule: String) {
        let found =
            value.string.map { "'\($0.prefix(80))'" } ?? value.int.map { "\($0)" } ?? value.json.kind
        add(value.place, "\(path.isEmpty ? "the file" : path) must be \(rule), not \(found)")
    }

    private mutating func add(_ place: TextPlace, _ message: String) {
        if faults.count < Self.mostFaults { faults.append(FileFault(file: file, place: place, message: message)) }
    }
}

extension Shape {
    /// Whether a value has the kind this shape is about.
    fileprivate func mayBe(_ value: JSON5Value) -> Bool {
        switch self {
        case .text, .form: value.string != nil
        case .number, .fraction: value.kind == "number"
        case .flag: value.bool != nil
        case .list: value.elements != nil
        case .object, .map: value.members != nil
        case .either(let shapes): shapes.contains { $0.mayBe(value) }
        case .anything: true
        case .nothing: value.content == .null
        }
    }

    fileprivate var words: String {
        switch self {
        case .text: "a text"
        case .form(let form, _): form
        case .number, .fraction: "a number"
        case .flag: "true or false"
        case .list: "a list"
        case .object, .map: "an object"
        case .either(let shapes): shapes.map(\.words).joined(separator: ", or ")
        case .anything: "anything"
        case .nothing: "null"
        }
    }
}
