# A program as people write them with Rails: its models and migrations, prepared statements on. Arguments: host, port,
# user, password, database, task (migrate, work, check), number of the process.
require "active_record"

ROUNDS = 40
host, port, user, password, database, task, number = ARGV
ActiveRecord::Base.logger = nil
ActiveRecord::Migration.verbose = false
ActiveRecord::Base.establish_connection(
  adapter: "postgresql", host: host, port: port.to_i, username: user, password: password, database: database,
  prepared_statements: true, statement_limit: 20, pool: 4
)

class CreateShelf < ActiveRecord::Migration[6.1]
  def change
    create_table(:rails_authors) { |t| t.string :name, null: false, index: true }
    create_table(:rails_books) do |t|
      t.string :title, null: false
      t.references :author, null: false, foreign_key: { to_table: :rails_authors }
    end
    create_table(:rails_counters) { |t| t.integer :value, null: false }
  end
end

class AddPages < ActiveRecord::Migration[6.1]
  disable_ddl_transaction!
  def change
    add_column :rails_books, :pages, :integer, default: 0
    add_index :rails_books, :title, algorithm: :concurrently
  end
end

class Author < ActiveRecord::Base
  self.table_name = "rails_authors"
  has_many :books
end

class Book < ActiveRecord::Base
  self.table_name = "rails_books"
  belongs_to :author
end

class Counter < ActiveRecord::Base
  self.table_name = "rails_counters"
end

MIGRATIONS = [[CreateShelf, 20200101000000], [AddPages, 20200102000000]].map do |type, version|
  type.new(type.name, version)
end

# With the advisory lock that Rails takes.
def migrator(direction)
  ActiveRecord::Migrator.new(direction, MIGRATIONS, ActiveRecord::SchemaMigration)
end

def demand(condition, what)
  raise "#{what}: not as it should be" unless condition
end

case task
when "migrate"
  ActiveRecord::SchemaMigration.create_table
  ActiveRecord::InternalMetadata.create_table
  migrator(:up).migrate
  Counter.create!(id: 1, value: 0)
when "work"
  threads = 2.times.map do |thread|
    Thread.new do
      ActiveRecord::Base.connection_pool.with_connection do |connection|
        demand(connection.prepared_statements, "prepared statements")
        (ROUNDS / 2).times do |i|
          name = "#{number}-#{thread}-#{i}"
          Author.transaction do
            author = Author.create!(name: name)
            3.times { |n| author.books.create!(title: "#{name}-#{n}", pages: n) }
            Counter.lock.find(1).increment!(:value)
          end
          found = Author.includes(:books).find_by(name: name)
          demand(found.books.map(&:pages).sort == [0, 1, 2], "books")
          demand(Book.joins(:author).where(rails_authors: { name: name }).where("pages > ?", 0).count == 2, "count")
          begin
            Author.transaction { Counter.create!(id: 1, value: 5) }
            raise "a second counter"
          rescue ActiveRecord::RecordNotUnique
            Counter.where(id: 1).update_all("value = value + 1")
          end
          Author.transaction(requires_new: true) do
            Author.create!(name: "never")
            raise ActiveRecord::Rollback
          end
        end
      end
    end
  end
  threads.each(&:join)
else
  processes = number.to_i
  demand(Counter.find(1).value == processes * ROUNDS * 2, "counter")
  demand(Author.count == processes * ROUNDS && Book.count == processes * ROUNDS * 3, "rows")
  demand(Author.where(name: "never").none?, "rolled back")
  migrator(:down).migrate
  ActiveRecord::SchemaMigration.drop_table
  ActiveRecord::InternalMetadata.drop_table
end
