"""A program as people write them with SQLAlchemy. Arguments: address of the database, task (migrate, work, check), number
of the process. With psycopg2, and with asyncpg, which prepares every statement."""

import asyncio
import sys

from sqlalchemy import Column, ForeignKey, Integer, MetaData, String, create_engine, func, inspect, select, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session, declarative_base, relationship, selectinload

ROUNDS = 40
Base = declarative_base(metadata=MetaData())


class Author(Base):
    __tablename__ = "sa_author"
    id = Column(Integer, primary_key=True)
    name = Column(String(80), nullable=False)
    books = relationship("Book", back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "sa_book"
    id = Column(Integer, primary_key=True)
    title = Column(String(80), nullable=False, index=True)
    author_id = Column(ForeignKey("sa_author.id"), nullable=False)
    author = relationship("Author", back_populates="books")


class Counter(Base):
    __tablename__ = "sa_counter"
    id = Column(Integer, primary_key=True)
    value = Column(Integer, nullable=False)


def migrate(engine):
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)
    names = inspect(engine).get_table_names()
    assert {"sa_author", "sa_book", "sa_counter"} <= set(names), names
    assert [i["column_names"] for i in inspect(engine).get_indexes("sa_book")] == [["title"]]
    with Session(engine) as session, session.begin():
        session.add(Counter(id=1, value=0))
    with engine.begin() as connection:
        connection.execute(text("alter table sa_book add column pages int"))


def work(engine, number):
    for i in range(ROUNDS):
        with Session(engine) as session, session.begin():
            author = Author(name=f"{number}-{i}", books=[Book(title=f"{number}-{i}-{n}") for n in range(3)])
            session.add(author)
            session.flush()
            counter = session.execute(select(Counter).where(Counter.id == 1).with_for_update()).scalar_one()
            counter.value += 1
        with Session(engine) as session:
            found = session.execute(
                select(Author).options(selectinload(Author.books)).where(Author.name == f"{number}-{i}")
            ).scalar_one()
            assert [b.title for b in found.books] == [f"{number}-{i}-{n}" for n in range(3)]
            session.add(Counter(id=1, value=5))
            try:
                session.commit()
                raise AssertionError("a second counter")
            except Exception as error:  # pylint: disable=broad-except
                assert "duplicate key" in str(error), error
                session.rollback()
            with session.begin_nested():
                session.execute(text("set local statement_timeout to '5s'"))


async def work_async(url, number):
    engine = create_async_engine(url)

    async def one(task):
        for i in range(ROUNDS // 4):
            async with AsyncSession(engine) as session, session.begin():
                name = f"async {number}-{task}-{i}"
                session.add(Author(name=name))
                await session.flush()
                assert (await session.execute(select(func.count()).where(Author.name == name))).scalar() == 1
                counter = (
                    await session.execute(select(Counter).where(Counter.id == 1).with_for_update())
                ).scalar_one()
                counter.value += 1

    await asyncio.gather(*(one(task) for task in range(4)))
    await engine.dispose()


def check(engine, processes):
    with Session(engine) as session:
        assert session.execute(select(Counter.value)).scalar() == processes * (ROUNDS + ROUNDS // 4 * 4)
        assert session.execute(select(func.count()).select_from(Book)).scalar() == processes * ROUNDS * 3
    Base.metadata.drop_all(engine)


def main():
    address, task, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    engine = create_engine(f"postgresql+psycopg2://{address}", pool_size=3)
    if task == "migrate":
        migrate(engine)
    elif task == "work":
        work(engine, number)
        asyncio.run(work_async(f"postgresql+asyncpg://{address}", number))
    else:
        check(engine, number)
    engine.dispose()


main()
