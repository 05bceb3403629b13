import Device
import Foundation

extension AttestedInstall {
    /// Reads what `stored()` gave.
    init(stored body: [UInt8]) throws {
        self = try JSONDecoder().decode(AttestedInstall.self, from: Data(body))
    }

    /// The install as it is stored.
    func stored() throws -> [UInt8] { [UInt8](try JSONEncoder().encode(self)) }
}
